// Shows a compiler stage of two configurations side by side.

import { make } from "/dom.js";

const CODE = ["ttgir", "amdgcn"];

/** Return buttons for the stages; `ask(stage)` returns the rows. */
export function differences(stages, ask) {
  const place = make("div", {});
  const button = (stage) =>
    make("button", { type: "button", "data-difference": stage, onclick: () => show(place, ask(stage)) }, `Difference of ${stage.toUpperCase()}`);
  return make("div", {}, make("p", { class: "buttons" }, ...CODE.filter((one) => stages.includes(one)).map(button)), place);
}

async function show(place, asked) {
  place.replaceChildren(make("p", { class: "note" }, "comparing …"));
  try {
    const { changed, rows } = await asked;
    const words = changed ? `${changed} rows differ` : "nothing differs but names of values and registers";
    place.replaceChildren(make("p", { class: "note" }, words), make("div", { class: "difference", tabIndex: 0 }, make("table", {}, make("tbody", {}, ...rows.map(line)))));
  } catch (error) {
    place.replaceChildren(make("p", { class: "wrong" }, error.message));
  }
}

function line([kind, old, left, now, right]) {
  if (kind === "gap") return make("tr", {}, make("td", { colSpan: 4, class: "note" }, `${old} equal lines`));
  const text = (pieces) => {
    const whole = (pieces || []).map(([, part]) => part).join("");
    return make("td", { title: whole }, ...(pieces || []).map(([name, part]) => (name ? make("span", { class: name }, part) : part)));
  };
  return make("tr", { class: kind }, make("td", {}, old ?? ""), text(left), make("td", {}, now ?? ""), text(right));
}
