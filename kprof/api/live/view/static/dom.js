// Creates DOM elements. Text is always inserted as text: no part of the page parses markup.

export const byId = (id) => document.getElementById(id);

/** Create an element with properties and children; children are elements or text. */
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined).map(node));
  return made;
}

/** Create an SVG element; names that begin with `on` are event listeners, all others are attributes. */
export function draw(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.map(node));
  return made;
}

const node = (child) => (child instanceof Node ? child : String(child));

/** Fill a select with [value, text] pairs and select the option with the value `chosen`. */
export function choices(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
}

/** Format microseconds with a suitable unit. */
export function duration(us) {
  if (us === null || us === undefined) return "unknown";
  const [value, unit] = us < 1000 ? [us, "µs"] : us < 1e6 ? [us / 1000, "ms"] : [us / 1e6, "s"];
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`;
}

/** Format a number with at most two decimals, or "unknown". */
export const known = (value) => (value === null || value === undefined ? "unknown" : Number(value.toFixed(2)).toString());

/** Return the last part of a path. */
export const base = (path) => path.split("/").pop();
