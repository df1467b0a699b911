// The page: what comes from its server goes to the panels, and what a person does goes back.
import { $, el, forgetColours, setText } from "./dom.js";
import { Connection } from "./connection.js";
import { Easel } from "./easel.js";
import { Strips } from "./strips.js";
import { Scene } from "./scene.js";
import { Square } from "./square.js";
import { Histograms } from "./histograms.js";
import { State } from "./state.js";
import { Live } from "./live.js";
import { Controls } from "./controls.js";
import { Scope } from "./scope.js";

const KEEP_MS = 600;
const MOST_STRIPS = 6; // that a rig without a layout begins with
const MOST_STRIPS_OF_A_PAGE = 40;
const MOST_IN_A_STRIP = 8;
const CALM_MS = 95; // from one frame to the next, where the processor draws: it may be the one on which the rig runs
const THEMES = ["auto", "light", "dark"];

class Page {
  constructor() {
    this.layout = { strips: [], span_s: 10, theme: "auto", across: "", up: "", hidden: [] };
    this.units = new Map();
    this.signals = [];
    this.followed = [];
    this.followId = 0;
    this.source = "";
    this.hasNew = false;
    this.isAwake = false; // a frame has been asked for
    this.frameMs = 0; // when the last one was drawn
    this.news = { status: null, histograms: null };
    this.strips = new Strips(this);
    this.easel = new Easel(this);
    this.scene = new Scene(this);
    this.square = new Square(this);
    this.histograms = new Histograms();
    this.state = new State();
    this.live = new Live(this);
    this.scope = new Scope(this);
    this.controls = new Controls(this);
    this.connection = new Connection((m) => this.take(m), (h, n) => this.takeFrame(h, n), (is, why) => this.connected(is, why));
    $("span").addEventListener("change", () => this.chooseSpan(Number($("span").value)));
    $("hold").addEventListener("click", () => this.strips.hold());
    $("add").addEventListener("submit", (event) => this.add(event));
    $("wanted").addEventListener("change", (event) => this.add(event));
    $("theme").addEventListener("click", () => this.chooseTheme(THEMES[(THEMES.indexOf(this.layout.theme) + 1) % THEMES.length]));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    this.addFolds();
  }

  send(message) {
    const why = this.connection.send(message);
    if (why) this.say(false, why);
    return !why;
  }

  unit(path) {
    const unit = this.units.get(path) ?? "";
    return unit === "1" ? "" : unit;
  }

  connected(is, why) {
    this.news = { status: null, histograms: null };
    $("banner").hidden = is;
    if (!is) {
      setText($("banner"), why || "The server of this page is not there. Start `rigloop monitor` again; the page finds it by itself. What you see is not the present.");
      this.controls.lost();
    }
  }

  take(message) {
    const handlers = {
      rig: () => this.takeRig(message),
      drawing: () => { this.scene.take(message); this.follow(); },
      // shown with the next frame: one of their own would lay out and paint the page once more
      status: () => { this.news.status = message; this.wake(); },
      histograms: () => { this.news.histograms = message; this.wake(); },
      said: () => this.say(message.good, message.words),
      gone: () => this.gone(message.words),
      scope: () => this.scope.takeState(message),
      captures: () => this.scope.takeNames(message.names),
    };
    handlers[message.kind]?.();
  }

  takeFrame(header, numbers) {
    if (header.kind === "cycles" && header.id === this.followId) {
      this.strips.take(this.followed, header.groups, numbers, this.layout.span_s);
      this.redraw();
    } else if (header.kind === "range") this.strips.takeRange(header, numbers);
    else if (header.kind === "capture") this.scope.takeCapture(header, numbers);
    else if (header.kind === "spectra") this.scope.takeSpectra(header, numbers);
    else if (header.kind === "pose") this.scene.pose(header.index, numbers);
  }

  takeRig(rig) {
    this.source = rig.source;
    this.signals = rig.signals;
    this.units = new Map(rig.signals.map(([path, unit]) => [path, unit]));
    setText($("title"), rig.title || rig.name);
    document.title = `${rig.name} – rigloop monitor`;
    $("banner").hidden = true;
    this.scene.clear();
    this.histograms.clear();
    this.live.show(rig.live, rig.stimuli);
    this.controls.show(rig);
    $("signals").replaceChildren(...rig.signals.map(([path, unit]) => el("option", { value: path, label: unit })));
    const layout = rig.layout;
    const known = (paths) => paths.filter((path) => this.units.has(path));
    layout.strips = layout.strips.map(known).filter((paths) => paths.length);
    if (!layout.strips.length) layout.strips = rig.shown.slice(0, MOST_STRIPS).map((path) => [path]);
    const guard = rig.guards[0];
    const choose = (path, other) => (this.units.has(path) ? path : this.units.has(other) ? other : "");
    layout.across = choose(layout.across, guard?.reads.angle_rad);
    layout.up = choose(layout.up, guard?.writes.torque_nm);
    this.layout = layout;
    $("span").value = String(layout.span_s);
    this.strips.scales.show(layout.scales);
    this.scope.plots.scales.show(layout.scope_scales);
    this.square.offer(rig.signals, layout.across, layout.up);
    this.scope.show(layout.scope, rig.shown.slice(0, MOST_STRIPS));
    this.fold();
    this.strips.zoomed = this.strips.frozenS = null;
    this.heldChanged(false);
    this.repaint();
    this.follow();
  }

  takeStatus(status) {
    this.state.take(status, this.source);
    this.live.take(status);
    this.controls.take(status);
  }

  gone(words) {
    this.news = { status: null, histograms: null };
    setText($("banner"), `${words}. Looking for it again. What you see is not the present.`);
    $("banner").hidden = false;
    this.controls.lost();
  }

  say(good, words) {
    setText($("said"), words);
    $("said").className = good ? "" : "bad";
    clearTimeout(this.saying);
    this.saying = setTimeout(() => setText($("said"), ""), good ? 3000 : 9000);
  }

  // asks for all signals that some panel shows
  follow() {
    const all = [...this.strips.paths(), ...this.square.paths(), ...this.scene.paths()];
    this.followed = [...new Set(all)].filter((path) => this.units.has(path)).slice(0, 60);
    this.followId += 1;
    this.strips.clear();
    if (this.connection?.socket) this.connection.send({ do: "follow", id: this.followId, signals: this.followed, span_s: this.layout.span_s, pixels: this.strips.pixels() });
  }

  keep() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.send({ do: "keep", layout: this.layout }), KEEP_MS);
  }

  // scales that were set by hand
  keepScales() {
    this.layout.scales = this.strips.scales.kept();
    this.layout.scope_scales = this.scope.plots.scales.kept();
    this.keep();
  }

  changed() {
    this.strips.show(this.layout.strips);
    this.offerStrips();
    this.follow();
    this.keep();
  }

  add(event) {
    event.preventDefault();
    const path = $("wanted").value.trim();
    if (!path) return;
    if (!this.units.has(path)) {
      if (event.type === "submit") this.say(false, `no recorded signal ${path}`);
      return;
    }
    $("wanted").value = "";
    const strip = this.layout.strips[Number($("where").value)];
    if (strip && strip.length < MOST_IN_A_STRIP && !strip.includes(path)) strip.push(path);
    else if (this.layout.strips.length < MOST_STRIPS_OF_A_PAGE) this.layout.strips.push([path]);
    else return;
    this.changed();
  }

  // strips that another signal may go into
  offerStrips() {
    $("where").replaceChildren(el("option", { value: "-1", text: "a new strip" }), ...this.layout.strips.map((paths, k) => el("option", { value: String(k), text: paths.join(", ") })));
  }

  // each panel folds to its title
  addFolds() {
    for (const section of document.querySelectorAll("main section")) {
      const title = section.querySelector("h2");
      const button = el("button", { type: "button", class: "fold", "aria-expanded": "true", "aria-label": `fold ${title.textContent}`, onclick: () => {
        const { hidden } = this.layout;
        this.layout.hidden = hidden.includes(section.id) ? hidden.filter((id) => id !== section.id) : [...hidden, section.id];
        this.fold();
        this.keep();
      } });
      title.before(button);
    }
  }

  fold() {
    for (const section of document.querySelectorAll("main section")) {
      const is = this.layout.hidden.includes(section.id);
      section.classList.toggle("folded", is);
      section.querySelector(".fold").setAttribute("aria-expanded", String(!is));
    }
    this.redraw();
  }

  removeStrip(place) {
    this.layout.strips.splice(place, 1);
    this.changed();
  }

  chooseSpan(span) {
    this.layout.span_s = span;
    this.strips.release();
    this.follow();
    this.keep();
  }

  chooseSquare(across, up) {
    Object.assign(this.layout, { across, up });
    Object.assign(this.square, { across, up });
    this.follow();
    this.keep();
  }

  chooseTheme(theme) {
    this.layout.theme = theme;
    this.repaint();
    this.keep();
  }

  repaint() {
    if (this.layout.theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.layout.theme;
    forgetColours();
    setText($("theme"), `Theme: ${this.layout.theme}`);
    this.strips.show(this.layout.strips);
    this.offerStrips();
    this.scope.plots.repaint();
    this.scope.across();
    this.scope.spectra.repaint();
    this.histograms.take(this.histograms.shown);
    this.scene.build();
    this.redraw();
  }

  heldChanged(is) {
    $("hold").setAttribute("aria-pressed", String(is));
    setText($("hold"), is ? "Go on" : "Hold");
    $("strips").classList.toggle("held", is);
  }

  // has everything drawn in the next frame
  redraw() {
    this.hasNew = true;
    this.wake();
  }

  // a frame is asked for where there is something to draw: an empty one costs a page without a graphics card a millisecond
  wake() {
    if (this.isAwake) return;
    this.isAwake = true;
    const restMs = this.easel.isSoftware ? this.frameMs + CALM_MS - performance.now() : 0;
    if (restMs > 0) setTimeout(() => requestAnimationFrame(() => this.frame()), restMs);
    else requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.isAwake = false;
    this.frameMs = performance.now();
    const { status, histograms } = this.news;
    this.news = { status: null, histograms: null };
    if (status) this.takeStatus(status);
    if (histograms) this.histograms.take(histograms.tasks);
    if (this.hasNew) {
      this.hasNew = false;
      if (!this.strips.zoomed) this.strips.needed = true;
      this.scene.needed = this.square.needed = true;
    }
    this.strips.read(Boolean(status));
    for (const one of [this.strips, this.scene, this.square]) if (one.needed) one.draw();
  }

  // a picture is done: the next one may be asked for
  drawn(name) {
    if ({ strips: this.strips, space: this.scene, across: this.square }[name].needed) this.wake();
  }

  // the painting can begin, or there is none; another one than before knows of no strips
  painted(isAnother) {
    this.scene.note();
    this.scene.build();
    if (isAnother) {
      this.strips.tell();
      this.follow();
    }
    this.redraw();
  }
}

window.rigloop = new Page();
