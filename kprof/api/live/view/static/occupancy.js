// Shows the occupancy for other numbers of registers, LDS bytes and wavefronts.

import { byId, draw as part, known, make } from "/dom.js";
import { ask } from "/server.js";

const [WIDTH, HEIGHT] = [300, 90];
const KNOBS = [
  ["vgpr", "VGPRs", 1, 512, 1],
  ["lds", "LDS, bytes", 0, 65536, 512],
  ["num_warps", "Wavefronts a workgroup", 1, 16, 1],
];
let now = null;
let turn = 0;
let waiting = null;

/** Set the sliders to a kernel's resources; hide them if the resources are not known. */
export function begin(kernel, gpu) {
  const { vgpr, agpr, lds_bytes: lds, num_warps, lds_limit_bytes: limit } = kernel.resources || {};
  const all = [vgpr, lds, num_warps].every(Number.isInteger);
  byId("what-if").hidden = !all;
  if (!all) return;
  now = { arch: gpu, vgpr: Math.max(1, vgpr), agpr: agpr || 0, lds, num_warps };
  const most = { lds: limit || 65536 };
  byId("sliders").replaceChildren(...KNOBS.map((knob) => slider(knob, most)));
  draw();
}

function slider([name, words, least, most, step], limits) {
  const value = make("output", {}, now[name]);
  const range = make("input", { type: "range", id: `if-${name}` });
  Object.assign(range, { min: least, max: Math.max(limits[name] || most, now[name]), step, value: now[name] });
  range.addEventListener("input", () => {
    now = { ...now, [name]: Number(range.value) };
    value.textContent = range.value;
    clearTimeout(waiting);
    waiting = setTimeout(draw, 60);
  });
  return make("label", {}, make("span", {}, words), range, value);
}

async function draw() {
  turn += 1;
  const mine = turn;
  try {
    const [vgpr, lds] = await Promise.all(["vgpr", "lds"].map((over) => ask("occupancy", { ...now, curve: over })));
    if (mine !== turn) return;
    const { occupancy, launch_problems: problems } = vgpr.kernels[0];
    const limit = occupancy.limiter.replaceAll("_", " ");
    byId("what-if-words").textContent = problems.length
      ? problems.join("; ")
      : `${known(occupancy.waves_per_simd)} of ${occupancy.max_waves_per_simd} waves a SIMD, limited by ${limit}; ${occupancy.workgroups_per_cu} ${occupancy.workgroups_per_cu === 1 ? "workgroup" : "workgroups"} on a CU`;
    byId("curves").replaceChildren(
      curve("VGPRs", vgpr.kernels[0].curve.points, now.vgpr, occupancy.max_waves_per_simd),
      curve("bytes of LDS", lds.kernels[0].curve.points, now.lds, occupancy.max_waves_per_simd),
    );
  } catch (error) {
    if (mine === turn) byId("what-if-words").textContent = error.message;
  }
}

/** Draw occupancy over one resource as a step function, with a line at the kernel's own value. */
function curve(words, points, amount, most) {
  const end = points.at(-1).last;
  const x = (value) => (WIDTH * value) / end;
  const y = (waves) => HEIGHT - 4 - ((HEIGHT - 12) * waves) / most;
  const stairs = points.map(({ first, last, waves_per_simd: waves }) => `${x(first)},${y(waves)} ${x(last + 1)},${y(waves)}`).join(" ");
  const drawn = part("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `waves a SIMD over ${words}` });
  drawn.append(part("polyline", { points: stairs, class: "stairs" }), part("line", { x1: x(amount), x2: x(amount), y1: 0, y2: HEIGHT, class: "here" }));
  const steps = points.filter((point) => point.waves_per_simd).map((point) => `${known(point.waves_per_simd)} to ${point.last.toLocaleString("en")}`);
  return make("figure", {}, drawn, make("figcaption", { class: "note" }, `Waves a SIMD over ${words}: ${steps.join(", ")}`));
}
