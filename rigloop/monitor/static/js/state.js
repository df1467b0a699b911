// The state of the rig in words: phase, guards, buses, tasks, faults.
import { $, el, fillRows, setText } from "./dom.js";
import { number } from "./numbers.js";

const WORDS = { idle: "No run", starting: "Starts", waiting: "Waits", arming: "Arms", armed: "Armed", stopping: "Stops", record: "Record" };

export class State {
  constructor() {
    this.shown = "";
    this.words = "";
  }

  take(status, source) {
    const fault = status.state === "FAULT" || status.faults.length > 0 || status.needs_reset;
    const word = status.state === "FAULT" ? "Fault" : source === "run" ? "Runs" : WORDS[status.phase] ?? status.phase;
    setText($("state"), word);
    $("state").className = `state ${fault ? "bad" : { armed: "armed", arming: "waits", waiting: "waits", starting: "waits" }[status.phase] ?? ""}`;
    setText($("clock"), status.t_s ? `${status.t_s.toFixed(1)} s` : "–");
    const who = status.control ? `${status.mine ? "this page is" : `${status.control} is`} in control` : "nobody is in control";
    setText($("source"), source === "service" ? who : status.run.split("/").at(-1));
    const faults = [...status.faults, ...(status.needs_reset ? [status.needs_reset] : [])];
    const key = JSON.stringify(faults);
    if (key !== this.shown) {
      this.shown = key;
      $("faults").replaceChildren(...faults.map((text) => el("li", { text })));
      $("faults").hidden = !faults.length;
    }
    this.guards(status);
    this.buses(status.buses);
    this.tasks(status.tasks);
  }

  guards(status) {
    $("guards").hidden = !status.guards.length && !status.words.length;
    const box = $("guard-rows");
    while (box.children.length > status.guards.length) box.lastChild.remove();
    while (box.children.length < status.guards.length) {
      box.append(el("div", { class: "guard" }, el("b"), el("span", { class: "value" }), el("small"), el("small"), el("meter", { min: 0 })));
    }
    status.guards.forEach((guard, k) => {
      const torque = guard.torque_nm;
      const [state, value, name, limit, meter] = box.children[k].children;
      setText(state, guard.state || "–");
      setText(value, `${torque == null ? "–" : torque.toFixed(2)} Nm`);
      setText(name, `${guard.name}${guard.waits_for ? ` waits for: ${guard.waits_for}` : ""}`);
      setText(limit, `limit ${number(guard.limit_nm)} Nm`);
      meter.max = guard.limit_nm;
      meter.value = Math.abs(torque ?? 0);
      meter.setAttribute("aria-label", `torque of ${guard.name} beside its limit`);
    });
    const key = JSON.stringify(status.words);
    if (key === this.words) return;
    this.words = key;
    $("words").replaceChildren(...status.words.map((text) => el("li", { text })));
  }

  buses(buses) {
    $("buses").hidden = !buses.length;
    const row = (name, state, counter, expected, bad, strong) => [
      [strong ? "th" : "td", "", name],
      ["td", state && state !== "OP" ? "bad" : "", state || "–"],
      ["td", counter !== expected ? "n bad" : "n", counter == null ? "–" : `${number(counter)} of ${number(expected)}`],
      ["td", "n", bad]];
    fillRows($("bus-rows"), buses.flatMap((bus) => [
      row(bus.name, bus.state, bus.wkc, bus.wkc_expected, bus.lost == null ? "–" : `${number(bus.lost)} lost, ${number(bus.late)} late`, true),
      ...bus.slaves.map((slave) => row(slave.name, slave.state, slave.wkc, slave.wkc_expected, number(slave.bad_cycles), false)),
    ]));
  }

  tasks(tasks) {
    fillRows($("task-rows"), tasks.map((task) => [
      ["td", "", task.name],
      ["td", "n", number(task.cycles)],
      ["td", "n", number(task.overruns)],
      ["td", "n", number(task.skipped)],
      ["td", "", task.causes]]));
  }
}
