// What the page has of its painting: its canvases, and a thread that draws on them. A picture is asked for when the one
// before it is done, so that none wait in a row.
import { $ } from "./dom.js";

// between two pictures, where the processor draws them: it may be the one on which the rig runs
const REST_MS = { space: 60, across: 160 };

export class Easel {
  constructor(page) {
    this.page = page;
    this.isBusy = { space: false, across: false };
    this.isSoftware = false; // the processor draws in place of a graphics card
    this.problem = "";
    this.isSeen = { space: true, across: true };
    this.places = { space: "scene-plot", across: "square-plot" };
    this.seen = new IntersectionObserver((changes) => changes.forEach(({ target, isIntersecting }) => {
      const name = Object.keys(this.places).find((one) => this.places[one] === target.id);
      this.isSeen[name] = isIntersecting;
      if (isIntersecting) page.redraw();
    }));
    try {
      this.begin(true);
    } catch {
      this.begin(false);
    }
  }

  begin(inThread) {
    this.inThread = inThread;
    this.isBusy = { space: false, across: false };
    const found = Object.fromEntries(Object.entries(this.places).map(([name, id]) => [name, $(id)]));
    this.seen.disconnect();
    Object.values(found).forEach((canvas) => this.seen.observe(canvas));
    if (inThread) {
      this.thread = new Worker("/static/js/painter.js", { type: "module" });
      this.thread.onmessage = ({ data }) => this.take(data);
      this.thread.onerror = () => this.take({ ready: false, problem: "its thread has ended" });
      const canvases = Object.fromEntries(Object.entries(found).map(([name, canvas]) => [name, canvas.transferControlToOffscreen()]));
      this.thread.postMessage({ do: "canvases", ...canvases }, Object.values(canvases));
      this.post = (message) => this.thread.postMessage(message);
      return;
    }
    this.thread?.terminate();
    for (const [name, canvas] of Object.entries(found)) {
      // one that was given to a thread does not come back
      found[name] = canvas.cloneNode();
      canvas.replaceWith(found[name]);
      this.seen.observe(found[name]);
    }
    const early = [];
    this.post = (message) => early.push(message);
    import("./painting.js").then(({ Painting }) => {
      const painting = new Painting((message) => this.take(message));
      painting.take({ do: "canvases", ...found });
      early.forEach((message) => painting.take(message));
      this.post = (message) => painting.take(message);
    });
  }

  // whether a picture can be seen, and the one before it is done
  isFree(name) {
    return this.isSeen[name] && !this.isBusy[name];
  }

  // asks for a picture
  draw(name, message) {
    this.isBusy[name] = true;
    this.post({ do: name, ...message });
  }

  take({ ready, isSoftware, problem, drawn }) {
    if (drawn) setTimeout(() => this.free(drawn), this.isSoftware ? REST_MS[drawn] : 0);
    else if (ready) {
      this.isSoftware = isSoftware;
      this.page.painted();
    } else if (this.inThread) {
      this.begin(false);
      this.page.painted();
    } else {
      this.problem = problem;
      this.page.painted();
    }
  }

  free(name) {
    this.isBusy[name] = false;
    this.page.drawn(name);
  }
}
