// The scope: it is set up here, its captures come from the server of the page; trigger, figures, files.
import { $, el, setText } from "./dom.js";
import { number } from "./numbers.js";
import { ScopePlots } from "./scope_plots.js";
import { Spectra } from "./spectra.js";
import { captureOf } from "./capture.js";
import { across } from "./scope_together.js";

// words of a choice → the text of its trigger, by signal, level and upper level
const KINDS = {
  "rises above": (s, a) => `${s} > ${a} rising`,
  "falls below": (s, a) => `${s} < ${a} rising`,
  "crosses": (s, a) => `${s} > ${a} either`,
  "is above": (s, a) => `${s} > ${a}`,
  "is below": (s, a) => `${s} < ${a}`,
  "leaves the window": (s, a, b) => `${a} < ${s} < ${b} falling`,
  "enters the window": (s, a, b) => `${a} < ${s} < ${b} rising`,
  "an input switches on": (s) => `${s} > 0.5 rising`,
  "a fault or a trip": () => "fault",
  "a late cycle": () => "late",
  "at once": () => "now",
  "as written": (s, a, b, text) => text,
};
const WITHOUT_SIGNAL = ["a fault or a trip", "a late cycle", "at once", "as written"];
const WITHOUT_LEVEL = [...WITHOUT_SIGNAL, "an input switches on"];
const WINDOWS = ["leaves the window", "enters the window"];
const STATES = { off: "off", waits: "waits for a run", armed: "armed", triggered: "triggered", done: "done", ended: "the run has ended" };
const MOST_ADDED = 1000;
const MOST_CHIPS = 12;

export class Scope {
  constructor(page) {
    this.page = page;
    this.signals = [];
    this.capture = null;
    this.beside = null;
    this.comparing = "";
    this.captures = 0; // that were drawn
    this.cycles = 0; // of all signals of these
    this.missed = 0; // captures that did not come
    this.seen = { first: null, number: 0, endS: 0 };
    this.lost = 0;
    this.plots = new ScopePlots(this);
    this.spectra = new Spectra();
    $("scope-kind").replaceChildren(...Object.keys(KINDS).map((text) => el("option", { text })));
    for (const id of ["scope-kind", "scope-signal", "scope-level", "scope-upper"]) $(id).addEventListener("change", () => this.compose());
    $("scope-trigger").addEventListener("input", () => { $("scope-kind").value = "as written"; this.fit(); });
    $("scope-mode").addEventListener("change", () => this.fit());
    $("scope-setup").addEventListener("submit", (event) => event.preventDefault());
    $("scope-setup").addEventListener("change", () => this.kept());
    $("scope-add").addEventListener("change", () => this.add($("scope-add").value.trim()));
    $("scope-strips").addEventListener("click", () => this.choose(page.strips.paths()));
    $("scope-arm").addEventListener("click", () => (this.isOn ? page.send({ do: "off" }) : this.arm(this.setup().trigger)));
    $("scope-now").addEventListener("click", () => this.arm("now"));
    $("scope-whole").addEventListener("click", () => this.look(null));
    $("scope-spectra").addEventListener("click", () => { this.toggle("scope-spectra"); this.look(this.capture?.view ?? null); });
    $("scope-one").addEventListener("click", () => { this.toggle("scope-one"); this.plots.together(this.isPressed("scope-one")); });
    for (const id of ["scope-from", "scope-to"]) $(id).addEventListener("change", () => this.look(this.capture?.view ?? null));
    for (const id of ["scope-over", "scope-up"]) $(id).addEventListener("change", () => this.across());
    $("scope-save").addEventListener("click", () => page.send({ do: "save", name: $("scope-name").value.trim() }));
    $("scope-export").addEventListener("click", () => page.send({ do: "export", to: $("scope-format").value, name: $("scope-name").value.trim() }));
    $("scope-load").addEventListener("click", () => page.send({ do: "load", name: $("scope-stored").value }));
    $("scope-compare").addEventListener("click", () => this.compare());
    this.fit();
  }

  get isOn() {
    return ["waits", "armed", "triggered"].includes(this.state);
  }

  // the settings of a layout; a scope that waited for its trigger before the server was gone goes on waiting
  show(setup, shown) {
    // a source may go once more before it hears of it: asked again until a state says that it waits
    const waited = this.isOn ? this.armed : this.unheard;
    this.unheard = waited;
    const known = (setup.signals ?? []).filter((path) => this.page.units.has(path));
    this.signals = known.length ? known : shown;
    $("scope-trigger").value = setup.trigger || "";
    $("scope-kind").value = setup.trigger ? "as written" : "rises above";
    $("scope-signal").value = shown[0] ?? "";
    $("scope-pre").value = setup.pre_s;
    $("scope-post").value = setup.post_s;
    $("scope-mode").value = setup.mode;
    $("scope-auto").value = setup.auto_after_s;
    this.state = "off";
    this.chips();
    if (!setup.trigger) this.compose();
    this.fit();
    if (waited?.signals.every((path) => this.page.units.has(path))) this.page.send(waited);
  }

  fit() {
    const kind = $("scope-kind").value;
    $("scope-signal").parentElement.hidden = WITHOUT_SIGNAL.includes(kind);
    $("scope-level").parentElement.hidden = WITHOUT_LEVEL.includes(kind);
    $("scope-upper-label").hidden = !WINDOWS.includes(kind);
    $("scope-auto-label").hidden = $("scope-mode").value !== "auto";
  }

  compose() {
    const text = KINDS[$("scope-kind").value]($("scope-signal").value.trim(), $("scope-level").value || "0", $("scope-upper").value || "0", $("scope-trigger").value);
    $("scope-trigger").value = text;
    this.fit();
  }

  // a level was dragged: a scope that waits for its trigger waits for the new one
  moved() {
    this.compose();
    this.kept();
    if (this.isOn && this.armed?.trigger !== "now") this.arm(this.setup().trigger);
  }

  setup() {
    const seconds = (id) => Number($(id).value) || 0;
    return { signals: this.signals, trigger: $("scope-trigger").value.trim() || "now", pre_s: seconds("scope-pre"), post_s: seconds("scope-post"), mode: $("scope-mode").value, auto_after_s: seconds("scope-auto") || 1 };
  }

  kept() {
    this.page.layout.scope = this.setup();
    this.page.keep();
  }

  // one signal, or all that have a text in their path
  add(text) {
    if (!text) return;
    const found = this.page.units.has(text) ? [text] : [...this.page.units.keys()].filter((path) => path.includes(text));
    if (!found.length) return this.page.say(false, `no recorded signal has ${text} in its name`);
    $("scope-add").value = "";
    this.choose([...this.signals, ...found]);
  }

  choose(paths) {
    this.signals = [...new Set(paths)].slice(0, MOST_ADDED);
    this.chips();
    this.kept();
  }

  chips() {
    const chip = (path) => el("span", { class: "chip", role: "listitem" }, el("span", { text: path }), el("button", { type: "button", text: "×", "aria-label": `remove ${path} from the scope`, onclick: () => this.choose(this.signals.filter((one) => one !== path)) }));
    const more = this.signals.length - MOST_CHIPS;
    $("scope-signals").replaceChildren(...this.signals.slice(0, MOST_CHIPS).map(chip), ...(more > 0 ? [el("span", { class: "chip", role: "listitem" }, el("span", { text: `and ${more} more` }), el("button", { type: "button", text: "×", "aria-label": "remove those", onclick: () => this.choose(this.signals.slice(0, MOST_CHIPS)) }))] : []));
  }

  arm(trigger) {
    if (!this.signals.length) return this.page.say(false, "the scope has no signal: add one");
    this.armed = { do: "capture", ...this.setup(), trigger, pixels: this.plots.pixels() };
    this.unheard = null;
    this.page.send(this.armed);
  }

  // a part of the capture, or all of it
  look(between) {
    if (!this.capture) return;
    const [from, to] = [$("scope-from").value, $("scope-to").value];
    this.page.send({ do: "look", from_s: between?.[0] ?? null, to_s: between?.[1] ?? null, pixels: this.plots.pixels(), spectra: this.isPressed("scope-spectra"), delay: from && to ? [from, to] : null });
  }

  // one signal of the capture over another
  across() {
    const [over, up] = [$("scope-over").value, $("scope-up").value];
    $("scope-across").hidden = !over || !up;
    if (over && up && this.capture) across(this.capture, $("scope-across"), over, up);
  }

  isPressed(id) {
    return $(id).getAttribute("aria-pressed") === "true";
  }

  toggle(id) {
    $(id).setAttribute("aria-pressed", String(!this.isPressed(id)));
    if (id === "scope-spectra") $("scope-lines").hidden = !this.isPressed(id);
  }

  compare() {
    this.toggle("scope-compare");
    this.comparing = this.isPressed("scope-compare") ? $("scope-stored").value : "";
    this.beside = null;
    this.page.send({ do: "compare", name: this.comparing });
    this.look(this.capture?.view ?? null);
  }

  takeState(message) {
    this.state = message.state;
    if (this.isOn) this.unheard = null;
    const count = message.captures ? `, ${message.captures} capture${message.captures > 1 ? "s" : ""}` : "";
    const unsent = message.unsent ? `, ${message.unsent} of them not shown` : "";
    setText($("scope-state"), `${STATES[this.state] ?? this.state}${count}${unsent}`);
    $("scope-state").className = `badge ${{ armed: "waits", waits: "waits", triggered: "armed", done: "armed" }[this.state] ?? ""}`;
    setText($("scope-arm"), this.isOn ? "Scope off" : "Arm scope");
  }

  takeNames(names) {
    const chosen = $("scope-stored").value;
    $("scope-stored").replaceChildren(...(names.length ? names : [""]).map((text) => el("option", { value: text, text: text || "none yet", selected: text === chosen })));
    $("scope-load").disabled = $("scope-compare").disabled = !names.length;
  }

  takeCapture(header, numbers) {
    const capture = captureOf(header, numbers);
    if (header.beside) {
      this.beside = capture;
      return;
    }
    if (!this.comparing) this.beside = null;
    this.capture = capture;
    if (!capture.view) this.count(header);
    this.captures += 1;
    this.lost += header.lost;
    this.cycles += capture.cycles;
    $("scope-shown").hidden = false;
    $("scope-save").disabled = $("scope-export").disabled = false;
    $("scope-whole").disabled = !capture.view;
    this.offer(capture);
    this.words(header, capture);
    this.plots.show(capture, this.beside, header.apart ?? {});
    this.across();
  }

  // whole captures, one after the other
  count(header) {
    const { seen } = this;
    if (seen.first == null || header.number <= seen.number) Object.assign(seen, { first: header.trigger_s, number: header.number - 1 });
    this.missed += header.number - seen.number - 1;
    Object.assign(seen, { number: header.number, endS: header.trigger_s + header.extent[1] });
  }

  offer(capture) {
    const paths = capture.traces.map(({ path }) => path);
    const key = paths.join("\n");
    if (key === this.offered) return;
    this.offered = key;
    for (const id of ["scope-from", "scope-to", "scope-over", "scope-up"]) $(id).replaceChildren(el("option", { value: "", text: "–" }), ...paths.map((path) => el("option", { value: path, text: path })));
  }

  words(header, capture) {
    const why = { trigger: header.trigger, auto: `${header.trigger} has not come`, now: "at once" }[header.why];
    const skipped = capture.skipped ? `; ${capture.skipped} periods skipped by the loop` : "";
    const lost = header.lost ? `${header.lost} cycles lost` : "no cycle lost";
    setText($("scope-words"), `${header.number}: ${why}, at ${number(header.trigger_s, 8)} s; ${capture.rows.join(", ")}; ${lost}${skipped}${header.complete ? "" : "; the run ended before it was whole"}${this.comparing ? `; dashed: ${this.comparing}` : ""}`);
    const [from, to, delay] = header.delay ?? [];
    setText($("scope-delay"), from ? (delay == null ? "one of them does not cross its middle" : `${number(delay * 1e3)} ms`) : "");
  }

  takeSpectra(header, numbers) {
    this.spectra.show(header, numbers);
  }
}
