// Pictures that take long to draw, by messages: the mechanism in space, and one signal over another. It runs in a thread
// of its own (painter.js), or in that of the page where a browser has no canvas for threads.
import { drawAcross } from "../across.js";
import { Space } from "./space.js";

export class Painting {
  // reply takes { ready, isSoftware, problem } once, and { drawn: the name of a picture } after each
  constructor(reply) {
    this.reply = reply;
    this.waiting = [];
    this.space = null;
  }

  take(message) {
    if (message.do === "canvases") this.begin(message);
    else if (message.do === "across") {
      drawAcross(this.across, message);
      this.reply({ drawn: "across" });
    } else if (this.space) this.inSpace(message);
    else this.waiting.push(message);
  }

  // the library comes after the rest of the page
  async begin({ space, across }) {
    this.across = across;
    try {
      this.space = new Space(await import("../../vendor/three.module.min.js"), space);
    } catch (error) {
      this.reply({ ready: false, problem: String(error) });
      return;
    }
    this.reply({ ready: true, isSoftware: this.space.isSoftware() });
    this.waiting.splice(0).forEach((message) => this.inSpace(message));
  }

  inSpace(message) {
    if (message.do === "build") this.space.build(message.drawing, message.colours);
    else if (message.do === "space") {
      if (message.pose) this.space.update(message.pose, message.values);
      this.space.render(message);
      this.reply({ drawn: "space" });
    }
  }
}
