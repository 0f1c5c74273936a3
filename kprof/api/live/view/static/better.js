// Searches for better knobs like `kprof advise`; a click on an answer opens it.

import { byId, duration, make } from "/dom.js";
import { ask } from "/server.js";

const SECONDS = 30;
let running = null;

/** Abort the running search and clear its results. */
export function forget() {
  running?.abort();
  running = null;
  byId("stop").hidden = true;
  byId("better").disabled = false;
  byId("better-words").textContent = "";
  byId("better-list").replaceChildren();
}

/** Search for knobs better than those of a query; `open(change)` is called with the knobs of the clicked answer. */
export async function find(question, sheet, open) {
  forget();
  const mine = new AbortController();
  running = mine;
  byId("better").disabled = true;
  byId("stop").hidden = false;
  byId("better-words").textContent = `compiling other knobs, ${SECONDS} s at most …`;
  const { kernel: _, ...asked } = question;
  try {
    const found = await ask("advise", { ...asked, budget: SECONDS }, mine.signal);
    if (running !== mine) return;
    forget();
    byId("better-words").textContent = `${found.summary} (${found.tried} compiled, ${found.left} left)`;
    byId("better-list").replaceChildren(...found.suggestions.map((one) => entry(one, sheet, open)));
  } catch (error) {
    if (running !== mine) return;
    forget();
    byId("better-words").textContent = error.message;
  }
}

function entry(one, sheet, open) {
  const words = Object.entries(one.change).map(([name, value]) => `${name}=${value}`).join(" ");
  // Environment switches are not knobs of the page, so such an answer cannot be opened.
  const turns = Object.keys(one.change).every((name) => sheet.knobs.some((knob) => knob.name === name));
  const name = turns ? make("button", { type: "button", onclick: () => open(one.change) }, words) : words;
  const seen = one.must_see.length ? `to be seen: ${one.must_see.join(", ")}` : "nothing but the time changes";
  return make("li", {}, name, ` ${duration(one.time?.us)}`, make("p", { class: "note" }, seen));
}
