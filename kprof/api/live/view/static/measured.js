// Compares measured with modelled values: for the kernel, and line by line for its loops.

import { byId, known, make } from "/dom.js";

const row = (cells, name = "td") => make("tr", {}, ...cells.map((cell) => (cell instanceof Node ? cell : make(name, {}, cell))));

/** Draw a kernel's measurements; `jump(place)` goes to the source line `file:line`. */
export function show(kernel, notes, jump) {
  const found = kernel.measured;
  const missing = [...notes, ...kernel.notes].filter((one) => one.startsWith("not measured"));
  byId("measured").hidden = !found && !missing.length;
  for (const id of ["measured-table", "measured-lines"]) byId(id).hidden = !found;
  byId("measured-words").textContent = found ? words(found) : missing.join("; ");
  if (!found) return;
  fill("measured-table", ["", "Measured", "Modelled", "Modelled of measured", ""], found.comparisons.map((one) => [
    one.title, `${known(one.measured)} ${one.unit}`, `${known(one.modelled)} ${one.unit}`,
    one.measured ? `${(one.modelled / one.measured).toFixed(2)}` : "", `${one.standing}: ${one.words}`,
  ]));
  fill("measured-lines", ["Line", "Measured cycles an iteration", "of which stalled", "Modelled"], found.loops.flatMap((loop) => [
    [make("th", {}, place(loop)), known(loop.measured), known(loop.stalled), known(loop.modelled)],
    ...(loop.by_line || []).map((one) => [
      make("td", {}, one.place === "?" ? "no line" : make("button", { type: "button", onclick: () => jump(one.place) }, one.place)),
      known(one.measured), known(one.stalled), known(one.modelled),
    ]),
  ]));
}

function words(found) {
  const matches = found.matches.map((one) => `${one.source}: ${one.kernel}, ${one.confidence}, ${one.dispatches} ${one.dispatches === 1 ? "run" : "runs"}`);
  return [`on ${found.gpu}`, ...matches, ...(found.notes || [])].join("; ");
}

function place(loop) {
  const [[file, [first, last]] = ["", [0, 0]]] = Object.entries(loop.lines || {});
  return file ? `loop at lines ${first} to ${last}` : `loop ${loop.header}`;
}

function fill(id, heads, rows) {
  byId(id).hidden = !rows.length;
  byId(id).tHead.replaceChildren(row(heads, "th"));
  byId(id).tBodies[0].replaceChildren(...rows.map((cells) => row(cells)));
}
