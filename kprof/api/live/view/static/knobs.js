// Shows the knobs of a target as selects, and formats them as code and as a command.

import { byId, make } from "/dom.js";

const text = (value) => (value === null ? "None" : value === true ? "True" : value === false ? "False" : String(value));

/** Draw the knobs; `turn(knob, value)` is called when the user changes one. */
export function draw(sheet, question, turn) {
  const list = sheet.knobs.map((knob) => {
    const now = current(knob, question);
    const values = knob.values.some((value) => value === now) ? knob.values : [now, ...knob.values];
    const select = make("select", { id: `knob-${knob.name}`, disabled: values.length < 2, title: knob.origin });
    select.append(...values.map((value, at) => make("option", { value: at, selected: value === now }, text(value))));
    select.addEventListener("change", () => turn(knob, values[Number(select.value)]));
    const changed = now !== knob.value;
    return make("label", { class: changed ? "changed" : "" }, make("span", {}, knob.name), select);
  });
  byId("knob-list").replaceChildren(...list);
  byId("knob-note").textContent = sheet.notes.join("; ");
  for (const id of ["reset", "copy"]) byId(id).hidden = !sheet.knobs.length;
}

/** Return a knob's value in a query. */
export function current(knob, question) {
  const set = question[knob.option] || {};
  return knob.name in set ? set[knob.name] : knob.value;
}

const python = (value) => (typeof value === "string" ? JSON.stringify(value) : text(value));

/** Return the configuration as a `triton.Config`. */
export function tritonConfig(sheet, question) {
  const outside = ["num_warps", "num_stages"];
  const pairs = sheet.knobs.map((knob) => [knob.name, current(knob, question)]);
  const inside = pairs.filter(([name]) => !outside.includes(name)).map(([name, value]) => `"${name}": ${python(value)}`);
  const named = pairs.filter(([name]) => outside.includes(name)).map(([name, value]) => `, ${name}=${python(value)}`);
  return `triton.Config({${inside.join(", ")}}${named.join("")})`;
}

const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
const set = (values) => Object.entries(values).map(([name, value]) => `${name}=${text(value)}`).join(",");

/** Return the kprof command that is equivalent to a query. */
export function command(target, question, options) {
  // A query with another Triton than the installed one becomes a comparison of the two.
  const words = question.triton ? ["kprof", "diff", target, "--triton", "installed", "--triton", question.triton] : ["kprof", "analyze", "kernel", target];
  const add = (flag, value) => value && words.push(flag, value);
  add("--arch", question.arch || options.arch);
  add("--case", question.case || options.case);
  for (const [name, flag] of [["config", "--config"], ["shape", "--shape"], ["constexpr", "--constexpr"], ["env", "--env"]]) {
    add(flag, set({ ...(options[name] || {}), ...(question[name] || {}) }));
  }
  add("--signature", options.signature);
  add("--grid", (options.grid || []).join(","));
  return words.map(quoted).join(" ");
}
