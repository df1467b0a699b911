// Live values and stimuli: what may be changed, within the limits of the rig file.
import { $, el, setText } from "./dom.js";
import { number } from "./numbers.js";

export class Live {
  constructor(page) {
    this.page = page;
    this.values = new Map();
    this.stimuli = new Map();
  }

  show(live, stimuli) {
    this.values.clear();
    this.stimuli.clear();
    $("live").hidden = !live.length && !stimuli.length;
    const groups = new Map();
    for (const one of live) groups.set(one.group || one.name, [...(groups.get(one.group || one.name) ?? []), one]);
    $("live-values").replaceChildren(...[...groups.values()].map((group) => this.group(group)));
    $("stimuli").replaceChildren(...stimuli.map((one) => this.stimulus(one)));
  }

  // the values of a group are written together
  group(group) {
    const inputs = group.map((one) => this.value(one, group.length > 1 ? null : () => write()));
    const write = () => this.page.send({ do: "write", values: Object.fromEntries(inputs.map(({ one, input }) => [one.name, Number(input.value)])) });
    const box = el("div", { class: "group" }, ...inputs.map(({ row }) => row));
    if (group.length > 1) box.append(el("button", { type: "button", class: "needs-control", text: `Write ${group.map((one) => one.name).join(", ")}`, onclick: write }));
    return box;
  }

  value(one, onChange) {
    const step = (one.upper - one.lower) / 1000;
    const limits = { min: one.lower, max: one.upper, step: "any", value: one.start, class: "needs-control" };
    const input = el("input", { type: "number", ...limits, "aria-label": `${one.name}, ${one.unit}` });
    const slider = el("input", { type: "range", ...limits, step, "aria-label": `${one.name}, slider` });
    slider.addEventListener("input", () => { input.value = String(Number(Number(slider.value).toPrecision(4))); });
    input.addEventListener("input", () => { slider.value = input.value; });
    if (onChange) {
      slider.addEventListener("change", onChange);
      input.addEventListener("change", onChange);
    }
    const now = el("span", { class: "value", text: "–" });
    this.values.set(one.name, { now, unit: one.unit === "1" ? "" : one.unit });
    return { one, input, row: el("div", { class: "tune" }, el("span", { text: one.name }), now, slider, input) };
  }

  stimulus(one) {
    const now = el("span", { class: "value", text: "–" });
    this.stimuli.set(one.name, now);
    const button = (text, key) => el("button", { type: "button", class: "needs-control", text, "aria-label": `${text} ${one.name}`, onclick: () => this.page.send({ do: "write", [key]: [one.name] }) });
    return el("div", { class: "stimulus" }, el("span", { text: `${one.name}, up to ${number(one.limit)} ${one.unit}` }), now, button("Begin", "begin"), button("End", "end"));
  }

  take(status) {
    for (const [name, { now, unit }] of this.values) setText(now, `${number(status.live[name])} ${unit}`);
    for (const [name, now] of this.stimuli) setText(now, status.stimuli[name] || "–");
    const may = status.mine && status.phase !== "idle";
    for (const one of document.querySelectorAll("#live .needs-control")) one.disabled = !may;
  }
}
