// What the page has of its painting: its canvases, and threads that draw on them. A picture is asked for when the one
// before it is done, so that none wait in a row.
import { $ } from "./dom.js";

// between two pictures, where the processor draws them: it may be the one on which the rig runs
const REST_MS = { strips: 0, space: 60, across: 160 };
const PLACES = { strips: "rolls-plot", space: "scene-plot", across: "square-plot" };
const NAMES = Object.keys(PLACES);

export class Easel {
  constructor(page) {
    this.page = page;
    this.pictures = { strips: 0, space: 0, across: 0 }; // that were drawn
    this.isSoftware = false; // the processor draws in place of a graphics card
    this.problem = "";
    this.isSeen = { strips: true, space: true, across: true };
    this.threads = [];
    this.seen = new IntersectionObserver((changes) => changes.forEach(({ target, isIntersecting }) => {
      const name = NAMES.find((one) => PLACES[one] === target.id);
      this.isSeen[name] = isIntersecting;
      if (isIntersecting) page.redraw();
    }));
    try {
      this.begin(true);
    } catch {
      this.begin(false);
    }
  }

  begin(inThreads) {
    this.inThreads = inThreads;
    this.isBusy = { strips: false, space: false, across: false };
    this.threads.forEach((thread) => thread.terminate());
    const found = Object.fromEntries(NAMES.map((name) => [name, $(PLACES[name])]));
    this.seen.disconnect();
    if (!inThreads) {
      // one that was given to a thread does not come back
      for (const [name, canvas] of Object.entries(found)) {
        found[name] = canvas.cloneNode();
        canvas.replaceWith(found[name]);
      }
    }
    Object.values(found).forEach((canvas) => this.seen.observe(canvas));
    const { strips, ...others } = found;
    this.post = this.partner("painting", "Painting", others, inThreads && "painter");
    this.roll = this.partner("strip_pictures", "StripPictures", { strips }, inThreads && "roller");
  }

  // begins what draws on some canvases, in a thread or in that of the page; returns what takes a message to it
  partner(module, name, canvases, file) {
    if (file) {
      const thread = new Worker(`/static/js/painting/${file}.js`, { type: "module" });
      this.threads.push(thread);
      thread.onmessage = ({ data }) => this.take(data);
      thread.onerror = () => this.take({ ready: false, problem: "its thread has ended" });
      const given = Object.fromEntries(Object.entries(canvases).map(([key, canvas]) => [key, canvas.transferControlToOffscreen()]));
      thread.postMessage({ do: "canvases", ...given }, Object.values(given));
      return (message) => thread.postMessage(message);
    }
    const early = [{ do: "canvases", ...canvases }];
    let take = (message) => early.push(message);
    import(`./painting/${module}.js`).then((found) => {
      const made = new found[name]((message) => this.take(message));
      early.forEach((message) => made.take(message));
      take = (message) => made.take(message);
    });
    return (message) => take(message);
  }

  // whether a picture can be seen, and the one before it is done
  isFree(name) {
    return this.isSeen[name] && !this.isBusy[name];
  }

  // asks for a picture
  draw(name, message) {
    this.isBusy[name] = true;
    if (name === "strips") this.roll({ do: "picture", ...message });
    else this.post({ do: name, ...message });
  }

  take({ ready, isSoftware, problem, drawn }) {
    if (drawn) this.pictures[drawn] += 1;
    if (drawn) setTimeout(() => this.free(drawn), this.isSoftware ? REST_MS[drawn] : 0);
    else if (ready) {
      this.isSoftware = isSoftware;
      this.page.painted();
    } else if (this.inThreads) {
      this.begin(false);
      this.page.painted(true);
    } else {
      this.problem = problem;
      this.isSoftware = true; // a browser without WebGL has no graphics card to draw the rest with either
      this.page.painted();
    }
  }

  free(name) {
    this.isBusy[name] = false;
    this.page.drawn(name);
  }
}
