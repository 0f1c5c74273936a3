// Making elements. Text is always text: nothing here, or anywhere on the page, reads markup.

export const byId = (id) => document.getElementById(id);

/** An element with properties and children; children are elements or text. */
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

/** The same for a drawing; all properties are attributes, but those that begin with `on`. */
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

/** Fill a select with [value, text] and choose one by its value. */
export function choices(select, pairs, chosen) {
  select.replaceChildren(...pairs.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
}

/** Microseconds as people say them. */
export function duration(us) {
  if (us === null || us === undefined) return "unknown";
  const [value, unit] = us < 1000 ? [us, "µs"] : us < 1e6 ? [us / 1000, "ms"] : [us / 1e6, "s"];
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`;
}

/** A number as it is, or that it is not known. */
export const known = (value) => (value === null || value === undefined ? "unknown" : Number(value.toFixed(2)).toString());

/** The last part of a path. */
export const base = (path) => path.split("/").pop();
