// Draws the modelled wavefronts over time, with zoom: issued instructions, waits with their cause, and busy units.

import { byId, known, make } from "/dom.js";

const [ROW, LABEL, AXIS, GAP] = [22, 170, 18, 10];
const COLOURS = {
  matrix: "--accent", vector: "--type", lds: "--warn", "memory latency": "--keyword", "memory bandwidth": "--number",
  barrier: "--bad", issue: "--good", scratch: "--comment",
};
const CLOSEST = 20;

export class Timeline {
  /** @param jump called with the assembly line of a clicked instruction */
  constructor(jump) {
    this.jump = jump;
    this.canvas = byId("timeline");
    this.data = null;
    this.range = [0, 1];
    this.chosen = null;
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    for (const [id, factor] of [["timeline-in", 0.5], ["timeline-out", 2]]) byId(id).addEventListener("click", () => this.zoom(factor));
    byId("timeline-whole").addEventListener("click", () => this.#to(0, this.data?.cycles ?? 1));
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(data) {
    this.data = data;
    this.chosen = null;
    this.lanes = [...data.waves.map(() => []), ...data.units.map(() => [])];
    for (const [kind, steps] of [["issue", data.issue], ["wait", data.wait]]) {
      for (const [wave, start, end, at, cause] of steps) this.lanes[wave].push({ kind, start, end, at, cause: data.causes[cause] });
    }
    for (const [unit, start, end, at] of data.busy) this.lanes[data.waves.length + unit].push({ kind: "busy", start, end, at, cause: null });
    for (const lane of this.lanes) lane.sort((a, b) => a.start - b.start);
    this.names = [...data.waves, ...data.units];
    const used = new Set([...data.issue, ...data.wait].map((step) => data.causes[step[4]]));
    byId("timeline-key").replaceChildren(
      ...data.causes.filter((one) => used.has(one)).map((one) => make("span", { class: `key ${one.replace(" ", "-")}` }, one)),
    );
    byId("timeline-note").textContent = data.notes.join("; ");
    byId("timeline-words").textContent = "";
    this.#to(0, data.cycles);
  }

  /** Scale the visible range by `factor`; the cycle `around` keeps its position on the screen. */
  zoom(factor, around = (this.range[0] + this.range[1]) / 2) {
    const [from, to] = this.range;
    this.#to(around - (around - from) * factor, around + (to - around) * factor);
  }

  #to(from, to) {
    if (!this.data) return;
    const width = Math.min(this.data.cycles, Math.max(CLOSEST, to - from));
    const start = Math.max(0, Math.min(this.data.cycles - width, from));
    this.range = [start, start + width];
    Object.assign(this.canvas.dataset, { from: Math.round(start), to: Math.round(start + width) });
    this.draw();
  }

  #x(cycle) {
    return LABEL + ((this.canvas.clientWidth - LABEL) * (cycle - this.range[0])) / (this.range[1] - this.range[0]);
  }

  #cycle(x) {
    return this.range[0] + ((this.range[1] - this.range[0]) * (x - LABEL)) / (this.canvas.clientWidth - LABEL);
  }

  #y(lane) {
    return AXIS + lane * ROW + (lane >= this.data.waves.length ? GAP : 0);
  }

  draw() {
    if (!this.data) return;
    const canvas = this.canvas;
    const ratio = devicePixelRatio || 1;
    const height = this.#y(this.lanes.length) + 4;
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [Math.round(canvas.clientWidth * ratio), Math.round(height * ratio)];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name);
    pen.font = "11px system-ui, sans-serif";
    this.#axis(pen, colour, height);
    pen.save();
    pen.beginPath();
    pen.rect(LABEL, 0, canvas.clientWidth - LABEL, height);
    pen.clip();
    this.lanes.forEach((lane, at) => this.#lane(pen, colour, lane, this.#y(at)));
    pen.fillStyle = colour("--soft");
    for (const [wave, start, end] of this.data.loops) {
      pen.fillRect(this.#x(start), this.#y(wave), Math.max(1, this.#x(end) - this.#x(start) - 1), 2);
    }
    pen.restore();
    pen.fillStyle = colour("--ink");
    this.names.forEach((name, at) => pen.fillText(name, 2, this.#y(at) + 14, LABEL - 6));
  }

  #axis(pen, colour, height) {
    const [from, to] = this.range;
    const step = nice((to - from) / 6);
    pen.strokeStyle = colour("--line");
    pen.fillStyle = colour("--soft");
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const x = this.#x(at);
      pen.beginPath();
      pen.moveTo(x, AXIS - 4);
      pen.lineTo(x, height);
      pen.stroke();
      pen.fillText(`${at.toLocaleString("en")}`, x + 2, 10);
    }
  }

  #lane(pen, colour, lane, top) {
    const [from, to] = this.range;
    // Steps narrower than a pixel are drawn at most once per pixel and colour.
    const last = {};
    for (const step of lane) {
      if (step.end < from || step.start > to) continue;
      const [x, end] = [this.#x(step.start), this.#x(step.end)];
      const name = step.kind === "busy" ? "--accent" : COLOURS[step.cause] || "--soft";
      if (end - x < 1 && last[name] === Math.floor(x)) continue;
      last[name] = Math.floor(x);
      pen.fillStyle = colour(name);
      pen.globalAlpha = step.kind === "wait" ? 0.4 : 0.9;
      const [y, tall] = step.kind === "wait" ? [top + 9, 6] : [top + 4, ROW - 8];
      pen.fillRect(x, y, Math.max(0.7, end - x - (end - x > 3 ? 0.5 : 0)), tall);
      if (step === this.chosen) {
        pen.globalAlpha = 1;
        pen.strokeStyle = colour("--ink");
        pen.strokeRect(x - 0.5, y - 0.5, Math.max(2, end - x), tall + 1);
      }
    }
    pen.globalAlpha = 1;
  }

  /** Return the step and lane under the pointer, or null. */
  #under(event) {
    if (!this.data) return null;
    const lane = this.lanes.findIndex((_, at) => event.offsetY >= this.#y(at) && event.offsetY < this.#y(at) + ROW);
    if (lane < 0 || event.offsetX < LABEL) return null;
    const cycle = this.#cycle(event.offsetX);
    const near = (this.range[1] - this.range[0]) / this.canvas.clientWidth;
    const found = this.lanes[lane].filter((step) => step.start - near <= cycle && cycle <= step.end + near);
    return found.length ? { step: found.find((step) => step.start <= cycle && cycle <= step.end) || found[0], lane } : null;
  }

  #say({ step, lane }) {
    const [line, text] = this.data.instructions[step.at];
    const cycles = step.end - step.start;
    const what = { issue: `issues, ${step.cause}`, wait: `waits: ${step.cause}`, busy: "is kept busy" }[step.kind];
    const time = `${known(cycles)} cycles from ${known(step.start)} (${known((1000 * cycles) / this.data.clock_mhz)} ns)`;
    byId("timeline-words").textContent = `${this.names[lane]} ${what}: ${text}, line ${line}; ${time}`;
  }

  #choose(found) {
    this.chosen = found.step;
    this.lane = found.lane;
    this.#say(found);
    this.draw();
    this.jump(this.data.instructions[found.step.at][0]);
  }

  #wheel(event) {
    // Without focus, the wheel scrolls the page.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#cycle(event.offsetX));
  }

  #press(event) {
    this.held = { x: event.offsetX, range: this.range, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.held) {
      const found = this.#under(event);
      if (found) this.#say(found);
      return;
    }
    const by = event.offsetX - this.held.x;
    if (Math.abs(by) > 3) this.held.moved = true;
    if (!this.held.moved) return;
    const [from, to] = this.held.range;
    const cycles = (by * (to - from)) / (this.canvas.clientWidth - LABEL);
    this.#to(from - cycles, to - cycles);
  }

  #release(event) {
    const moved = this.held?.moved;
    this.held = null;
    const found = moved ? null : this.#under(event);
    if (found) this.#choose(found);
  }

  #key(event) {
    if (!this.data || event.ctrlKey || event.metaKey || event.altKey) return;
    const [from, to] = this.range;
    const by = (to - from) / 4;
    if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "ArrowLeft") this.#to(from - by, to - by);
    else if (event.key === "ArrowRight") this.#to(from + by, to + by);
    else if (event.key === "Home") this.#to(0, this.data.cycles);
    else if (event.key === "n" || event.key === "p") this.#next(event.key === "n" ? 1 : -1);
    else return;
    event.preventDefault();
  }

  #next(by) {
    const lane = this.chosen ? this.lane : 0;
    const at = this.chosen ? this.lanes[lane].indexOf(this.chosen) + by : this.lanes[lane].findIndex((step) => step.end >= this.range[0]);
    const step = this.lanes[lane][at];
    if (!step) return;
    const [from, to] = this.range;
    if (step.start < from || step.end > to) this.#to(step.start - (to - from) / 4, step.start + (3 * (to - from)) / 4);
    this.#choose({ step, lane });
  }
}

/** Round up to 1, 2 or 5 times a power of ten. */
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return [1, 2, 5, 10].find((one) => one * power >= value) * power;
}
