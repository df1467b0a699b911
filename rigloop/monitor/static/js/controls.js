// Control of a rig, and of a record that plays: the large buttons, and the keyboard.
import { $, setText } from "./dom.js";

const SURE_MS = 4000;

export class Controls {
  constructor(page) {
    this.page = page;
    this.status = null;
    this.plays = true;
    this.isSure = false;
    this.isDragging = false;
    $("take").addEventListener("click", () => this.take_());
    $("arm").addEventListener("click", () => this.arm());
    $("stop").addEventListener("click", () => this.stop());
    $("reset").addEventListener("click", () => page.send({ do: "reset" }));
    $("play").addEventListener("click", () => this.play(!this.plays));
    $("speed").addEventListener("change", () => this.play(true));
    $("place").addEventListener("input", () => { this.isDragging = true; });
    $("place").addEventListener("change", () => this.seek());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  show(rig) {
    this.lengthS = rig.length_s;
    $("player").hidden = rig.source !== "record";
    for (const id of ["take", "arm", "stop"]) $(id).hidden = rig.source !== "service";
    this.plays = true;
  }

  lost() {
    this.status = null;
    for (const id of ["take", "arm", "stop", "reset"]) $(id).disabled = true;
    for (const one of document.querySelectorAll("#live .needs-control")) one.disabled = true;
  }

  take(status) {
    this.status = status;
    const { phase, mine, control } = status;
    $("take").disabled = false;
    setText($("take"), mine ? "Give control back" : control ? "Take over" : "Take control");
    $("arm").disabled = !mine || !["idle", "waiting"].includes(phase) || Boolean(status.needs_reset);
    $("stop").disabled = !mine || phase === "idle" || phase === "stopping";
    $("reset").hidden = !status.needs_reset || this.page.source !== "service";
    $("reset").disabled = !mine;
    if ($("arm").disabled) this.ask(false);
    if (this.page.source === "record" && this.lengthS && !this.isDragging) $("place").value = status.t_s / this.lengthS;
    setText($("play"), this.plays ? "Pause" : "Play");
  }

  take_() {
    if (this.status?.mine) this.page.send({ do: "give" });
    else this.page.send({ do: "take", over: Boolean(this.status?.control) });
  }

  // arming takes two: the first one asks
  arm() {
    if (!this.isSure) {
      this.ask(true);
      return;
    }
    this.ask(false);
    this.page.send({ do: "arm" });
  }

  ask(is) {
    this.isSure = is;
    setText($("arm"), is ? "Arm now?" : "Arm");
    $("arm").classList.toggle("sure", is);
    clearTimeout(this.asking);
    if (is) this.asking = setTimeout(() => this.ask(false), SURE_MS);
  }

  stop() {
    this.page.send({ do: "stop" });
  }

  play(is) {
    this.plays = is;
    this.page.send({ do: "play", speed: is ? Number($("speed").value) : 0 });
    setText($("play"), is ? "Pause" : "Play");
  }

  seek() {
    this.isDragging = false;
    this.page.send({ do: "play", speed: this.plays ? Number($("speed").value) : 0, at_s: Number($("place").value) * this.lengthS });
  }

  key(event) {
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
    if (event.key === "Escape") {
      if (!$("stop").disabled && !$("stop").hidden) this.stop();
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.tagName !== "BUTTON") {
      event.preventDefault();
      this.page.strips.hold();
    } else if (event.key === "a" || event.key === "b") {
      const { plots } = this.page.scope;
      (plots.pointerS == null ? this.page.strips : plots).setCursor(event.key.toUpperCase());
    }
  }
}
