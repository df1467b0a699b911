// The levels of the trigger as lines in the plot of its signal, which a person drags.
import { $, colour } from "./dom.js";

const NEAR = 7; // pixels of the page around a line
const PLACES = 4; // of a level that was dragged
const FIELDS = ["scope-level", "scope-upper"];

export class ScopeLevels {
  // moved is called when a line was let go
  constructor(moved) {
    this.moved = moved;
    this.held = "";
  }

  // the fields whose numbers are lines in the plot of a signal
  fieldsOf(path) {
    if ($("scope-signal").value.trim() !== path || $("scope-signal").parentElement.hidden) return [];
    return FIELDS.filter((id) => $(id).value !== "" && !$(id).closest("label").hidden);
  }

  // a level beyond the plot stands at its edge, where it can be fetched
  height(u, id) {
    const tall = u.bbox.height / devicePixelRatio;
    return Math.min(tall - 1, Math.max(1, u.valToPos(Number($(id).value), "y")));
  }

  watch(u, path) {
    const at = (event) => event.clientY - u.over.getBoundingClientRect().top;
    const near = (event) => this.fieldsOf(path).find((id) => Math.abs(this.height(u, id) - at(event)) <= NEAR) ?? "";
    // before the plot itself hears of it and begins to zoom
    u.root.addEventListener("mousedown", (event) => { if (this.held) event.stopPropagation(); }, true);
    u.over.addEventListener("pointerdown", (event) => {
      this.held = event.button === 0 ? near(event) : "";
      if (this.held) u.over.setPointerCapture(event.pointerId);
    });
    u.over.addEventListener("pointermove", (event) => {
      u.over.classList.toggle("level", Boolean(this.held || near(event)));
      if (!this.held) return;
      $(this.held).value = String(Number(u.posToVal(at(event), "y").toPrecision(PLACES)));
      u.redraw(false);
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      u.over.addEventListener(kind, () => {
        if (!this.held) return;
        this.held = "";
        this.moved();
      });
    }
  }

  draw(u, path) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--bad");
    ctx.textAlign = "left";
    ctx.setLineDash([2, 3]);
    for (const id of this.fieldsOf(path)) {
      const y = bbox.top + this.height(u, id) * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.fillText("level", bbox.left + 4, y > bbox.top + 14 ? y - 3 : y + 11);
    }
    ctx.restore();
  }
}
