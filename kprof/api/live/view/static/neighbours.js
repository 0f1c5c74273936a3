// Compiles all configurations that differ in one knob. Each answer arrives as an event and becomes a row and a dot.

import { byId } from "/dom.js";
import { current } from "/knobs.js";
import { ask } from "/server.js";

const AT_ONCE = 2;
let running = null;

/** Abort the running compiles. */
export function forget() {
  running?.abort();
  running = null;
  byId("neighbours").disabled = false;
}

/** Return the queries in which one knob differs from this query by one step. */
export function around(question, sheet) {
  return sheet.knobs.flatMap((knob) => {
    const at = knob.values.findIndex((value) => value === current(knob, question));
    const steps = at < 0 ? [] : [at - 1, at + 1].filter((to) => to >= 0 && to < knob.values.length);
    return steps.map((to) => {
      const { [knob.name]: _, ...others } = question[knob.option] || {};
      const value = knob.values[to];
      return { ...question, [knob.option]: value === knob.value ? others : { ...others, [knob.name]: value } };
    });
  });
}

/** Compile all neighbours, AT_ONCE at a time. */
export async function compile(question, sheet) {
  forget();
  const mine = new AbortController();
  running = mine;
  byId("neighbours").disabled = true;
  const left = around(question, sheet);
  const all = left.length;
  const failed = [];
  let done = 0;
  const say = () => {
    const wrong = failed.length ? `; ${failed.length} did not compile, as their rows say` : "";
    byId("neighbours-words").textContent = `${done} of ${all} neighbours answered${wrong}`;
  };
  const work = async () => {
    for (let one = left.shift(); one && running === mine; one = left.shift()) {
      try {
        await ask("report", one, mine.signal);
      } catch (error) {
        if (running !== mine) return;
        failed.push(error);
      }
      done += 1;
      if (running === mine) say();
    }
  };
  say();
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (running === mine) forget();
}
