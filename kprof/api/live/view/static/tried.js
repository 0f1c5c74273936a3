// Shows one row per requested configuration; two pinned rows are compared.

import { byId, duration, known, make } from "/dom.js";
import * as dots from "/dots.js";

const COLUMNS = [
  ["Configuration", (row) => row.words, (row) => row.words],
  ["GPU", (row) => row.gpu, (row) => row.gpu],
  ["Time", (row) => row.time?.us, (row) => duration(row.time?.us)],
  ["VGPRs", (row) => row.vgprs, (row) => known(row.vgprs)],
  ["Spills", (row) => row.vgpr_spills, (row) => known(row.vgpr_spills)],
  ["LDS", (row) => row.lds_bytes, (row) => known(row.lds_bytes)],
  ["Waves", (row) => row.waves_per_simd, (row) => known(row.waves_per_simd)],
  ["Findings", (row) => row.findings?.length, (row) => known(row.findings?.length)],
];
const MORE_IS_BETTER = new Set(["Waves"]);

const sorted = (values) => Object.fromEntries(Object.entries(values || {}).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Return a query in a canonical form, so that equivalent queries are equal. */
export function plain({ target = 0, arch = "", case: chosen = null, triton = "", config, constexpr, shape, kernel = 0 }) {
  return { target, arch, case: chosen, triton, config: sorted(config), constexpr: sorted(constexpr), shape: sorted(shape), kernel };
}

/** Return whether two canonical queries have the same kernel, problem and GPU, and differ at most in knobs. */
const sameProblem = (a, b) => ["target", "arch", "case", "kernel"].every((name) => a[name] === b[name]) && JSON.stringify(a.shape) === JSON.stringify(b.shape);

/** Return the number of knobs in which two queries differ. */
function turned(a, b) {
  const [x, y] = [a, b].map((one) => ({ ...one.config, ...one.constexpr }));
  return Object.keys({ ...x, ...y }).filter((name) => x[name] !== y[name]).length;
}

export class Tried {
  /** @param open called with the query of a clicked row */
  constructor(targets, open) {
    this.targets = targets;
    this.open = open;
    this.rows = new Map();
    this.pinned = [];
    this.sorted = null;
    this.chosen = "";
    const heads = COLUMNS.map(([name, value]) =>
      make("th", {}, make("button", { type: "button", onclick: () => this.#sort(value) }, name)),
    );
    byId("tried-table").tHead.replaceChildren(make("tr", {}, make("th", {}, "Pin"), ...heads));
  }

  add({ asked, kernels, error, saves = 0 }) {
    const question = plain(asked);
    const several = (kernels || []).length > 1;
    for (const [at, found] of (kernels || [{}]).entries()) {
      const key = JSON.stringify([{ ...question, kernel: at }, saves]);
      const words = [
        this.targets.length > 1 ? this.targets[question.target] : "",
        several ? found.name : "",
        question.case || "",
        question.triton ? `Triton ${question.triton}` : "",
        ...["config", "constexpr", "shape"].flatMap((name) => Object.entries(question[name] || {}).map(([k, v]) => `${k}=${v}`)),
        saves ? `(save ${saves})` : "",
      ].filter(Boolean).join(" ");
      this.rows.set(key, { key, question: { ...question, kernel: at }, words: words || "as started", gpu: found.product || found.arch || question.arch || "", error, ...found });
    }
  }

  /** Mark the row of the shown query. */
  mark(question) {
    this.chosen = JSON.stringify(plain(question));
    this.draw();
  }

  draw() {
    const rows = [...this.rows.values()];
    if (this.sorted) {
      const { value, sign } = this.sorted;
      const last = Number.POSITIVE_INFINITY;
      rows.sort((a, b) => {
        const [x, y] = [value(a) ?? last, value(b) ?? last];
        return x === y ? 0 : x === last ? 1 : y === last ? -1 : sign * (x < y ? -1 : 1);
      });
    }
    byId("tried-table").tBodies[0].replaceChildren(...rows.map((row) => this.#row(row)));
    const now = rows.find((row) => this.#shown(row));
    const comparable = now ? rows.filter((row) => sameProblem(row.question, now.question)) : rows;
    dots.show(comparable, now?.key, (row) => this.open(row.question));
    this.#compare();
  }

  #row(row) {
    const pin = make("input", { type: "checkbox", checked: this.pinned.includes(row.key), "aria-label": `Pin ${row.words}`, onchange: () => this.#pin(row.key) });
    const name = make("button", { type: "button", onclick: () => this.open(row.question) }, row.words);
    const chosen = this.#shown(row);
    const cells = row.error
      ? [make("td", {}, row.gpu), make("td", { colSpan: COLUMNS.length - 2, class: "wrong" }, row.error.message)]
      : COLUMNS.slice(1).map(([, , text]) => make("td", {}, text(row)));
    return make("tr", { class: chosen ? "chosen" : "" }, make("td", {}, row.error ? "" : pin), make("td", {}, name), ...cells);
  }

  #shown(row) {
    return JSON.stringify(row.question) === this.chosen;
  }

  /** Return the other tried configurations of a query's problem, in the form that the roofline takes. */
  others(question) {
    const now = plain(question);
    return [...this.rows.values()]
      .filter((row) => row.roofline && !this.#shown(row) && sameProblem(row.question, now))
      .map((row) => ({ roofline: row.roofline, us: row.time?.us, words: row.words, near: turned(row.question, now) === 1, open: () => this.open(row.question) }));
  }

  #pin(key) {
    this.pinned = this.pinned.includes(key) ? this.pinned.filter((one) => one !== key) : [...this.pinned, key].slice(-2);
    this.draw();
  }

  #sort(value) {
    this.sorted = { value, sign: this.sorted?.value === value ? -this.sorted.sign : 1 };
    this.draw();
  }

  #compare() {
    const [a, b] = this.pinned.map((key) => this.rows.get(key));
    const place = byId("compared");
    if (!a || !b) {
      place.replaceChildren(make("p", { class: "note" }, this.rows.size > 1 ? "Pin two rows to compare them." : ""));
      return;
    }
    const rows = COLUMNS.slice(2).map(([name, value, text]) => {
      const [x, y] = [value(a), value(b)];
      const differs = typeof x === "number" && typeof y === "number" && x !== y;
      const better = differs && y < x !== MORE_IS_BETTER.has(name);
      const change = differs ? (x ? `${y > x ? "+" : "−"}${Math.abs((100 * (y - x)) / x).toFixed(0)} %` : "from 0") : x === y ? "the same" : "unknown";
      return make("tr", { "data-compare": name }, make("th", {}, name), make("td", {}, text(a)), make("td", {}, text(b)), make("td", { class: differs ? (better ? "better" : "worse") : "" }, change));
    });
    const only = (one, other) => {
      const left = [...other.findings];
      const more = one.findings.filter((finding) => {
        const at = left.indexOf(finding);
        if (at >= 0) left.splice(at, 1);
        return at < 0;
      });
      return more.join(", ") || "none";
    };
    place.replaceChildren(
      make("h3", {}, "Compared"),
      make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", {}), make("th", {}, a.words), make("th", {}, b.words), make("th", {}, "Change"))), make("tbody", {}, ...rows))),
      make("p", {}, `Findings of the first alone: ${only(a, b)}.`),
      make("p", {}, `Findings of the second alone: ${only(b, a)}.`),
      make("ol", { id: "changes" }),
      make("div", { id: "differences" }),
    );
    place.dispatchEvent(new CustomEvent("compare", { bubbles: true, detail: [a, b] }));
  }
}
