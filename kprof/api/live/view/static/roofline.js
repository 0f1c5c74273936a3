// Draws the roofline: each memory level and kind of arithmetic, this kernel at each level, and tried configurations.

import { byId, draw, duration, known, make } from "/dom.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [520, 300, 46, 30, 10, 12];
const LEVELS = { lds: "LDS", l1: "vL1D", l2: "L2", mall: "Infinity Cache", hbm: "HBM" };
const log = Math.log10;

const sum = (values) => Object.values(values).reduce((all, one) => all + one, 0);
const power = (at) => (at >= -2 && at < 4 ? String(Number((10 ** at).toPrecision(3))) : `1e${at}`);
const rate = (gflops) => (gflops >= 1000 ? `${known(gflops / 1000)} TFLOP/s` : `${known(gflops)} GFLOP/s`);

/** Return GFLOP/s and, by level, FLOP per byte; null without a time or floating-point operations. */
function place({ roofline, us }) {
  const flops = roofline ? sum(roofline.flops) : 0;
  if (!flops || !us) return null;
  return { gflops: flops / us / 1000, at: Object.fromEntries(roofline.levels.map((one) => [one.name, flops / one.bytes])) };
}

/**
 * Draw the roofline.
 * @param mine `{ roofline, us }` of the shown kernel
 * @param others `{ roofline, us, words, near, open }` of tried configurations; `near`: differs in one knob
 */
export function show(mine, others) {
  const { roofline, us } = mine;
  byId("roofline-part").hidden = !roofline || !us;
  if (!roofline || !us) return;
  levels(roofline, us);
  const here = place(mine);
  const select = byId("roofline-level");
  const names = roofline.levels.map((one) => one.name);
  if (![...select.options].map((one) => one.value).every((name, at) => name === names[at]) || select.options.length !== names.length) {
    select.replaceChildren(...names.map((name) => make("option", { value: name, selected: name === names.at(-1) }, LEVELS[name])));
  }
  select.onchange = () => show(mine, others);
  byId("roofline-level-choice").hidden = !here;
  byId("roofline").replaceChildren(here ? picture(roofline, here, select.value, others) : make("p", { class: "note" }, "It computes nothing in floating point: what counts are the levels' bandwidths."));
}

function levels({ levels: found }, us) {
  const rows = found.map(({ name, bytes, peak_gbs: peak }) => {
    const speed = bytes / us / 1000;
    return make("tr", { "data-level": name }, make("th", {}, LEVELS[name]), make("td", {}, `${known(bytes / 1e6)} MB`), make("td", {}, `${known(speed)} GB/s`), make("td", {}, peak ? `${((100 * speed) / peak).toFixed(0)} % of ${known(peak)} GB/s` : "peak unknown"));
  });
  byId("roofline-levels").replaceChildren(...rows);
}

/** Return logarithmic scales whose range contains all points and ridges. */
function axes(roofline, places) {
  const ridges = roofline.levels.filter((one) => one.peak_gbs).flatMap((one) => Object.values(roofline.peaks_tflops).map((peak) => (1000 * peak) / one.peak_gbs));
  const xs = [...places.flatMap((one) => Object.values(one.at)), ...ridges].map(log);
  const ys = [...places.map((one) => one.gflops), ...Object.values(roofline.peaks_tflops).map((peak) => 1000 * peak)].map(log);
  const [x0, x1, y0, y1] = [Math.min(...xs) - 0.3, Math.max(...xs) + 0.3, Math.min(...ys) - 0.5, Math.max(...ys) + 0.3];
  return {
    x0, x1, y0, y1,
    x: (value) => LEFT + ((WIDTH - LEFT - RIGHT) * (log(value) - x0)) / (x1 - x0),
    y: (value) => HEIGHT - BOTTOM - ((HEIGHT - BOTTOM - TOP) * (log(value) - y0)) / (y1 - y0),
  };
}

function picture(roofline, here, level, others) {
  const placed = others.map((one) => ({ one, found: place(one) })).filter(({ found }) => found && found.at[level]);
  const scale = axes(roofline, [here, ...placed.map(({ found }) => found)]);
  const drawn = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Roofline: GFLOP/s over FLOP a byte" });
  drawn.append(...frame(scale), ...roofs(roofline, scale));
  for (const { one, found } of placed) {
    const words = `${one.words}: ${rate(found.gflops)} in ${duration(one.us)}, ${known(found.at[level])} FLOP a byte of ${LEVELS[level]}`;
    drawn.append(dot(scale, found.at[level], found.gflops, { class: one.near ? "dot near" : "dot tried", r: 4, tabindex: 0, role: "button", onclick: one.open, onkeydown: (event) => event.key === "Enter" && one.open() }, words));
  }
  for (const [name, intensity] of Object.entries(here.at)) {
    const words = `This kernel: ${rate(here.gflops)}, ${known(intensity)} FLOP a byte of ${LEVELS[name]}`;
    drawn.append(dot(scale, intensity, here.gflops, { class: "dot mine", r: 5, "data-level": name }, words));
    drawn.append(draw("text", { x: scale.x(intensity), y: scale.y(here.gflops) - 8, "text-anchor": "middle" }, LEVELS[name]));
  }
  return drawn;
}

function dot(scale, intensity, gflops, attributes, words) {
  return draw("circle", { cx: scale.x(intensity), cy: scale.y(gflops), ...attributes }, draw("title", {}, words));
}

function frame({ x0, x1, y0, y1, x, y }) {
  const found = [];
  for (let at = Math.ceil(x0); at <= x1; at += 1) {
    found.push(draw("line", { class: "grid", x1: x(10 ** at), x2: x(10 ** at), y1: TOP, y2: HEIGHT - BOTTOM }));
    found.push(draw("text", { x: x(10 ** at), y: HEIGHT - BOTTOM + 13, "text-anchor": "middle" }, power(at)));
  }
  for (let at = Math.ceil(y0); at <= y1; at += 1) {
    found.push(draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(10 ** at), y2: y(10 ** at) }));
    found.push(draw("text", { x: LEFT - 4, y: y(10 ** at) + 4, "text-anchor": "end" }, power(at)));
  }
  found.push(draw("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 3, "text-anchor": "middle" }, "FLOP a byte of the level; upwards GFLOP/s"));
  return found;
}

/** Draw memory levels as slanted lines up to the highest arithmetic peak, and arithmetic peaks as horizontal lines. */
function roofs({ levels: found, peaks_tflops: peaks }, { x0, x1, y0, x, y }) {
  const top = Math.max(...Object.values(peaks).map((peak) => 1000 * peak));
  const lines = [];
  if (!Number.isFinite(top)) return lines;
  const line = (words, x1_, y1_, x2_, y2_) =>
    lines.push(draw("line", { class: "roof", "data-roof": words, x1: x(x1_), y1: y(y1_), x2: x(x2_), y2: y(y2_) }, draw("title", {}, words)));
  for (const { name, peak_gbs: peak } of found) {
    if (!peak) continue;
    const start = Math.max(10 ** x0, 10 ** y0 / peak);
    line(`${LEVELS[name]}: ${known(peak)} GB/s`, start, start * peak, top / peak, top);
    // Put the label at the start of the line, parallel to it.
    const angle = (-180 / Math.PI) * Math.atan2(y(start * peak) - y(top), x(top / peak) - x(start));
    const at = `translate(${x(start) + 8} ${y(start * peak) - 14}) rotate(${angle})`;
    lines.push(draw("text", { transform: at }, LEVELS[name]));
  }
  const steepest = Math.max(...found.map((one) => one.peak_gbs || 0));
  // Kinds of arithmetic with the same peak share a line.
  const rates = new Map();
  for (const [kind, peak] of Object.entries(peaks)) {
    const key = known(Math.round(10 * peak) / 10);
    rates.set(key, [...(rates.get(key) || []), kind.replace("_", " ")]);
  }
  for (const [text, kinds] of rates) {
    const peak = Number(text);
    const words = `${kinds.join(", ")}: ${text} TFLOP/s`;
    line(words, steepest ? Math.max(10 ** x0, (1000 * peak) / steepest) : 10 ** x0, 1000 * peak, 10 ** x1, 1000 * peak);
    lines.push(draw("text", { x: x(10 ** x1) - 4, y: y(1000 * peak) - 4, "text-anchor": "end" }, words));
  }
  return lines;
}
