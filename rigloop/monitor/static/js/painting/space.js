// A mechanism in space, from the shapes of its drawing: rods, points, axes, angles, torques and forces as arrows, tyres.
// It knows no page: colours, poses and values come as numbers, so that a thread of its own can draw it.

const LOOKS = {
  body: ["--s0", 0.012], rod: ["--s0", 0.016], link: ["--ink", 0.006], measured: ["--s4", 0.005], arm: ["--s4", 0.004],
  together: ["--soft", 0.012], rail: ["--soft", 0.002], spring: ["--s5", 0.006], fixed: ["--ink", 0.018], moving: ["--s0", 0.014],
  centre: ["--soft", 0.012], force: ["--s1", 0.02], joint: ["--s1", 0.016], axis: ["--soft", 0.002], vector: ["--s2", 0.006],
  travel: ["--s4", 0.006], angle: ["--s4", 0.005], guide: ["--s3", 0.008], gravity: ["--ink", 0.005],
};
const DIAL = 0.15; // of the drawing's size: radius of a ring for a direction that has no place
const TYRE = 0.16;
const ARROW = 0.32; // length of the largest torque or force so far
const look = (style) => LOOKS[style] ?? LOOKS[style.split(" ")[0]] ?? ["--soft", 0.004];
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

export class Space {
  // three is the library, canvas what it draws on
  constructor(three, canvas) {
    this.three = three;
    this.renderer = new three.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.colours = {};
    this.drawing = null;
  }

  // whether the processor draws in place of a graphics card
  isSoftware() {
    const gl = this.renderer.getContext();
    const found = gl.getExtension("WEBGL_debug_renderer_info");
    return SOFTWARE.test(gl.getParameter(found ? found.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  }

  // the colours are of the page's theme, by their names in its style sheet
  build(drawing, colours) {
    const { three } = this;
    Object.assign(this, { drawing, colours });
    this.scene?.traverse((one) => { one.geometry?.dispose(); one.material?.dispose?.(); });
    this.scene = new three.Scene();
    this.camera = new three.PerspectiveCamera(35, 1, 0.01 * drawing.size, 60 * drawing.size);
    this.camera.up.set(0, 0, 1);
    this.scene.add(new three.HemisphereLight(0xffffff, 0x8899aa, 2.2));
    const sun = new three.DirectionalLight(0xffffff, 1.6);
    sun.position.set(2, -3, 4);
    this.scene.add(sun);
    this.material = new Map();
    this.shapes = drawing.shapes.map(([kind, style, label, , n], k) => this.shape(kind, style, n, k >= drawing.placed, k));
    this.moments = drawing.moments.map((moment) => ({ ...moment, most: 1e-9, arrow: this.arrow("--s1", 0.012), tyre: moment.tyre ? this.tyre() : null }));
    this.forces = drawing.forces.map((force) => ({ ...force, arrows: force.signals.length === 1 ? [this.arrow("--s2", 0.01), this.arrow("--s2", 0.01)] : [this.arrow("--s2", 0.01)] }));
    this.mostForce = 1e-9; // of one mechanism all forces have one scale
    this.middle = null;
    if (drawing.rest) this.update(drawing.rest, {});
  }

  paint(name) {
    if (!this.material.has(name)) this.material.set(name, new this.three.MeshStandardMaterial({ color: this.colours[name], roughness: 0.65 }));
    return this.material.get(name);
  }

  mesh(geometry, name) {
    const made = new this.three.Mesh(geometry, this.paint(name));
    this.scene.add(made);
    return made;
  }

  shape(kind, style, n, isLoose, k) {
    const { three } = this;
    const size = this.drawing.size;
    const [name, thick] = look(style);
    const tube = () => this.mesh(new three.CylinderGeometry(thick * size, thick * size, 1, 12), name);
    if (kind === "mark") return { kind, n, ball: this.mesh(new three.SphereGeometry(thick * size, 16, 12), name) };
    if (kind === "arrow") {
      // a dial is a ring about the axis that comes after its arrow
      const next = this.drawing.shapes[k + 1];
      const ring = isLoose && next?.[0] === "axis" ? this.ring(style === "guide") : null;
      return { kind, n, isLoose, ring, arrow: this.arrow(name, thick) };
    }
    if (kind === "axis" || kind === "arc" || style === "rail" || style === "arm") {
      const geometry = new three.BufferGeometry();
      geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(3 * n), 3));
      const line = new three.Line(geometry, new three.LineBasicMaterial({ color: this.colours[name] }));
      this.scene.add(line);
      return { kind, n, isLoose, line };
    }
    if (kind === "area" && n > 2) return { kind, n, tubes: Array.from({ length: n }, tube), isClosed: true };
    return { kind, n, tubes: Array.from({ length: Math.max(1, n - 1) }, tube) };
  }

  arrow(name, thick) {
    const { three } = this;
    const size = this.drawing.size;
    return { stem: this.mesh(new three.CylinderGeometry(thick * size, thick * size, 1, 12), name), head: this.mesh(new three.ConeGeometry(2.6 * thick * size, 7 * thick * size, 16), name), long: 7 * thick * size };
  }

  ring(isGuide) {
    const size = this.drawing.size;
    return this.mesh(new this.three.TorusGeometry(DIAL * size, (isGuide ? 0.014 : 0.004) * size, 12, 48), isGuide ? "--ink" : "--soft");
  }

  tyre() {
    const size = this.drawing.size;
    return this.mesh(new this.three.TorusGeometry(TYRE * size, 0.045 * size, 14, 40), "--soft");
  }

  // numbers are x, y, z of all points; values those of the signals that arrows and tyres follow
  update(numbers, values) {
    const { three, drawing } = this;
    const points = [];
    for (let k = 0; k < numbers.length; k += 3) points.push(new three.Vector3(numbers[k], numbers[k + 1], numbers[k + 2]));
    if (!this.middle) {
      const n = drawing.shapes.slice(0, drawing.placed).reduce((sum, shape) => sum + shape[4], 0);
      this.middle = new three.Box3().setFromPoints(points.slice(0, n).filter((p) => Number.isFinite(p.x)));
      const dials = drawing.shapes.slice(drawing.placed).filter(([kind]) => kind === "arrow").map((_, k) => this.dialAt(k));
      this.whole = this.middle.clone();
      dials.forEach((p) => this.whole.expandByPoint(p));
      this.whole.expandByScalar((dials.length ? DIAL : 0.05) * drawing.size);
    }
    let at = 0;
    let dials = 0;
    let dial = null;
    this.places = this.shapes.map((shape) => {
      const own = points.slice(at, at + shape.n);
      at += shape.n;
      const place = { centre: own[0], axis: null, far: own[own.length - 1] };
      if (shape.isLoose) {
        if (shape.kind === "arrow") dial = { centre: this.dialAt(dials++), ring: shape.ring };
        own.forEach((p) => p.multiplyScalar(DIAL * drawing.size).add(dial.centre));
        if (shape.kind === "axis" && dial.ring) orient(three, dial.ring, dial.centre, own[1].clone().sub(own[0]), new three.Vector3(0, 0, 1));
        dial.place ??= place;
        if (shape.kind === "axis") dial.place.axis = own[1].clone().sub(own[0]).normalize();
        place.centre = dial.centre;
      }
      this.put(shape, own);
      return place;
    });
    this.putMoments(values);
    this.putForces(values);
  }

  // places for directions without one: a row beside the mechanism
  dialAt(k) {
    const size = this.drawing.size;
    const { min, max } = this.middle;
    return new this.three.Vector3(min.x - 0.3 * size, (min.y + max.y) / 2 + (k - 1) * 2.6 * DIAL * size, max.z + 0.25 * size);
  }

  put(shape, own) {
    if (shape.ball) shape.ball.position.copy(own[0]);
    else if (shape.arrow) this.putArrow(shape.arrow, own[0], own[1]);
    else if (shape.line) {
      shape.line.geometry.attributes.position.array.set(own.flatMap((p) => [p.x, p.y, p.z]));
      shape.line.geometry.attributes.position.needsUpdate = true;
      shape.line.geometry.computeBoundingSphere();
    } else shape.tubes.forEach((tube, k) => stretch(this.three, tube, own[k], own[(k + 1) % own.length]));
  }

  putArrow(arrow, from, to) {
    const along = to.clone().sub(from);
    const long = along.length();
    arrow.stem.visible = arrow.head.visible = long > 1e-9;
    if (!(long > 1e-9)) return;
    const neck = from.clone().addScaledVector(along, Math.max(0, 1 - arrow.long / long));
    stretch(this.three, arrow.stem, from, neck);
    orient(this.three, arrow.head, neck.clone().lerp(to, 0.5), along, new this.three.Vector3(0, 1, 0));
  }

  putMoments(values) {
    const { three } = this;
    const size = this.drawing.size;
    for (const moment of this.moments) {
      const place = this.places[moment.shape];
      const centre = moment.centre ? new three.Vector3(...moment.centre) : place.centre;
      const axis = moment.axis ? new three.Vector3(...moment.axis).normalize() : place.axis ?? new three.Vector3(0, 0, 1);
      const value = values[moment.signal] ?? NaN;
      moment.most = Math.max(moment.most, Math.abs(value) || 0);
      const long = Number.isNaN(value) ? 0 : (ARROW * size * value) / moment.most;
      this.putArrow(moment.arrow, centre, centre.clone().addScaledVector(axis, long));
      if (!moment.tyre) continue;
      const angle = moment.angle ? values[moment.angle] || 0 : 0;
      const spin = new three.Vector3(0, 1, 0).applyAxisAngle(axis, angle);
      orient(three, moment.tyre, centre, spin, new three.Vector3(0, 0, 1));
    }
  }

  putForces(values) {
    const size = this.drawing.size;
    const found = this.forces.map((force) => force.signals.map((path) => (path ? values[path] : 0)));
    found.flat().forEach((value) => { this.mostForce = Math.max(this.mostForce, Math.abs(value) || 0); });
    const scale = (ARROW * size) / this.mostForce;
    this.forces.forEach(({ shape, arrows }, k) => {
      const { centre, far } = this.places[shape];
      const numbers = found[k].map((value) => (Number.isFinite(value) ? value * scale : 0));
      if (numbers.length === 3) {
        this.putArrow(arrows[0], centre, centre.clone().add(new this.three.Vector3(...numbers)));
        return;
      }
      // tension draws both ends inwards, pressure pushes them outwards
      const along = far.clone().sub(centre).normalize().multiplyScalar(numbers[0]);
      this.putArrow(arrows[0], centre, centre.clone().add(along));
      this.putArrow(arrows[1], far, far.clone().sub(along));
    });
  }

  // width and height are of the page, ratio the pixels of the screen under one of its own
  render({ width, height, ratio, turn }) {
    if (!this.middle) return;
    const size = [width, height, Math.min(2, ratio)].join();
    if (size !== this.size) {
      this.size = size;
      this.renderer.setPixelRatio(Math.min(2, ratio));
      this.renderer.setSize(width, height, false);
    }
    const middle = this.whole.getCenter(new this.three.Vector3());
    const radius = this.whole.getSize(new this.three.Vector3()).length() / 2;
    const { azimuth, height: up, away } = turn;
    const far = (away * radius * 2.4) / Math.min(1, width / height);
    this.camera.aspect = width / height;
    this.camera.position.set(middle.x + far * Math.cos(azimuth) * Math.cos(up), middle.y + far * Math.sin(azimuth) * Math.cos(up), middle.z + far * Math.sin(up));
    this.camera.lookAt(middle);
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
  }
}

// a cylinder from one point to another
function stretch(three, tube, from, to) {
  const along = to.clone().sub(from);
  const long = along.length();
  tube.visible = long > 1e-9;
  tube.scale.set(1, Math.max(long, 1e-9), 1);
  orient(three, tube, from.clone().lerp(to, 0.5), along, new three.Vector3(0, 1, 0));
}

function orient(three, mesh, at, along, own) {
  mesh.position.copy(at);
  if (along.lengthSq() > 0) mesh.quaternion.setFromUnitVectors(own, along.clone().normalize());
}
