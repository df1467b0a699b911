// The state of the rig in words: phase, guards, buses, tasks, faults.
import { $, el, setText, number } from "./dom.js";

const WORDS = { idle: "No run", starting: "Starts", waiting: "Waits", arming: "Arms", armed: "Armed", stopping: "Stops", record: "Record" };

export class State {
  constructor() {
    this.shown = "";
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
    const rows = status.guards.map((guard) => {
      const torque = guard.torque_nm;
      return el("div", { class: "guard" },
        el("b", { text: guard.state || "–" }),
        el("span", { class: "value", text: `${torque == null ? "–" : torque.toFixed(2)} Nm` }),
        el("small", { text: `${guard.name}${guard.waits_for ? ` waits for: ${guard.waits_for}` : ""}` }),
        el("small", { text: `limit ${number(guard.limit_nm)} Nm` }),
        el("meter", { min: 0, max: guard.limit_nm, value: Math.abs(torque ?? 0), "aria-label": `torque of ${guard.name} beside its limit` }));
    });
    $("guard-rows").replaceChildren(...rows);
    $("words").replaceChildren(...status.words.map((text) => el("li", { text })));
  }

  buses(buses) {
    $("buses").hidden = !buses.length;
    const row = (name, state, counter, expected, bad, strong) => el("tr", {},
      el(strong ? "th" : "td", { text: name }),
      el("td", { text: state || "–", class: state && state !== "OP" ? "bad" : "" }),
      el("td", { class: counter !== expected ? "n bad" : "n", text: counter == null ? "–" : `${number(counter)} of ${number(expected)}` }),
      el("td", { class: "n", text: bad }));
    $("bus-rows").replaceChildren(...buses.flatMap((bus) => [
      row(bus.name, bus.state, bus.wkc, bus.wkc_expected, bus.lost == null ? "–" : `${number(bus.lost)} lost, ${number(bus.late)} late`, true),
      ...bus.slaves.map((slave) => row(slave.name, slave.state, slave.wkc, slave.wkc_expected, number(slave.bad_cycles), false)),
    ]));
  }

  tasks(tasks) {
    $("task-rows").replaceChildren(...tasks.map((task) => el("tr", {},
      el("td", { text: task.name }),
      el("td", { class: "n", text: number(task.cycles) }),
      el("td", { class: "n", text: number(task.overruns) }),
      el("td", { class: "n", text: number(task.skipped) }),
      el("td", { text: task.causes }))));
  }
}
