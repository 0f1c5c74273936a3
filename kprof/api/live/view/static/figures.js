// Shows the main figures of a kernel, its time by cause, and its findings.

import { base, byId, duration, known, make } from "/dom.js";

const CAUSES = {
  matrix: "matrix units", vector: "vector units", lds: "LDS", barrier: "barriers", issue: "issue",
  scratch: "spills and private arrays", launch: "launch",
};
const RESOURCES = {
  vgpr: "VGPRs", agpr: "AGPRs", sgpr: "SGPRs", lds: "bytes of LDS", num_warps: "wavefronts per workgroup",
  vgpr_padding: "VGPRs of padding by waves_per_eu", sgpr_padding: "SGPRs of padding by waves_per_eu",
};
/** Return [name, value, note] for each main figure of a kernel's entry in the report. */
export function figures(kernel) {
  const { resources = {}, occupancy, model } = kernel;
  return [
    ["Time", duration(model?.time_us), model?.low_us ? `likely ${duration(model.low_us)} to ${duration(model.high_us)}` : "modelled"],
    ["VGPRs", known(resources.vgpr), resources.agpr ? `and ${resources.agpr} AGPRs` : "a lane"],
    ["Spills", known(resources.vgpr_spills), "VGPRs a lane"],
    ["LDS", known(resources.lds_bytes), "bytes a workgroup"],
    ["Occupancy", known(occupancy?.waves_per_simd), occupancy ? `of ${occupancy.max_waves_per_simd} waves a SIMD; limit: ${occupancy.limiter.replaceAll("_", " ")}` : "waves per SIMD"],
  ];
}

export function draw(document_, kernel, jump) {
  const words = document_.words[document_.kernels.indexOf(kernel)];
  byId("verdict").textContent = document_.verdict.status === "cannot_tell" ? document_.verdict.summary : words.verdict;
  advised(words.better, kernel.advised);
  const list = figures(kernel).map(([name, value, words]) =>
    make("div", { "data-figure": name }, make("dt", {}, name), make("dd", {}, value), make("dd", { class: "note" }, words)),
  );
  byId("figure-list").replaceChildren(...list);
  causes(kernel.model);
  byId("room").textContent = room(kernel.occupancy?.next_step);
  findings(kernel, words.causes, jump);
}

/** Show the better knobs that an earlier search found for this kernel, with the line to paste. */
function advised(words, best) {
  const place = byId("advised");
  place.hidden = !best;
  if (!best) return;
  place.querySelector("p").textContent = words;
  place.querySelector("pre").textContent = best.code;
}

function causes(model) {
  const shares = Object.entries(model?.shares || {}).filter(([, share]) => share >= 0.005).sort((a, b) => b[1] - a[1]);
  byId("causes").replaceChildren(
    ...shares.map(([cause, share]) => {
      const bar = make("i", { class: `cause ${cause.replace(" ", "-")}` });
      bar.style.width = `${100 * share}%`;
      return make("div", { class: "share" }, make("span", {}, CAUSES[cause] || cause), make("span", { class: "track" }, bar), make("span", {}, `${(100 * share).toFixed(0)} %`));
    }),
  );
}

function room(step) {
  if (!step) return "";
  const less = (name, amount) => `${amount.toLocaleString("en")} ${RESOURCES[name] || name.replaceAll("_", " ")}`;
  const all = [less(step.resource, step.reduce_by), ...Object.entries(step.also || {}).map(([n, amount]) => less(n, amount))];
  return `${known(step.waves_per_simd)} waves a SIMD need ${all.join(" and ")} less.`;
}

function findings(kernel, causes, jump) {
  const button = (one) => make("button", { type: "button", onclick: () => jump(one), "data-rule": one.rule }, `${one.rule} ${one.name}`);
  const list = causes.map(({ findings: [first, ...others], severity, message, cost, place, todo }) => {
    const note = [severity, cost && (cost.startsWith("no ") ? cost : `costs ${cost}`), place].filter(Boolean).join("   ");
    const steps = Object.entries(todo).map(([kind, words]) => make("p", { class: kind }, `${kind}: ${words}`));
    const same = others.length ? make("p", { class: "note" }, "same cause: ", ...others.map((at) => button(kernel.findings[at]))) : null;
    return make("li", { class: `severity-${severity}` }, button(kernel.findings[first]), make("span", { class: "note" }, ` ${note}`), make("p", {}, message), ...steps, same);
  });
  byId("finding-list").replaceChildren(...(list.length ? list : [make("li", {}, "Nothing was found.")]));
}
