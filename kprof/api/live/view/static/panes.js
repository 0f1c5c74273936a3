// Shows a compiler stage as a list of lines. Only visible lines are in the DOM, because a listing may have 60,000.

import { base, choices, make } from "/dom.js";

const HEIGHT = 18;
const SPARE = 5;
const TITLES = { python: "Python", ttir: "TTIR", ttgir: "TTGIR", llir: "LLVM IR", amdgcn: "AMDGCN" };
const PAGE = 20;

export class Pane {
  /**
   * @param root the element that becomes the pane
   * @param stages the selectable stages
   * @param on callbacks: `stage(pane)` when a stage is selected, `place(pane, key, chain)` when a line is
   */
  constructor(root, stages, stage, on) {
    this.on = on;
    this.stage = stage;
    this.lines = [];
    this.select = make("select", { "aria-label": "Stage", onchange: () => this.#choose() });
    choices(this.select, stages.map((one) => [one, TITLES[one]]), stage);
    this.note = make("span", { class: "note" });
    this.space = make("div", { class: "space" });
    this.view = make("div", { class: "lines", tabIndex: 0, role: "listbox", onkeydown: (event) => this.#key(event) });
    this.view.append(this.space);
    this.drawn = new Map();
    this.view.addEventListener("scroll", () => this.#soon(), { passive: true });
    this.space.addEventListener("click", (event) => {
      const row = event.target.closest("[data-row]");
      if (row) this.#pick(Number(row.dataset.row));
    });
    new ResizeObserver(() => this.#draw()).observe(this.view);
    root.replaceChildren(make("div", { class: "bar" }, this.select, this.note), this.view);
    this.root = root;
    this.clear();
  }

  clear() {
    this.view.setAttribute("aria-label", `Lines of ${TITLES[this.stage]}`);
    this.show({ files: [], lines: [], notes: [] });
  }

  show(listing) {
    this.files = listing.files;
    this.lines = listing.lines;
    this.notes = listing.notes;
    // Stages that this kernel does not have are listed, but disabled.
    for (const option of this.select.options) option.disabled = Boolean(listing.stages && !listing.stages.includes(option.value));
    this.rows = new Map();
    let longest = 0;
    this.lines.forEach(([, pieces, places], row) => {
      longest = Math.max(longest, pieces.reduce((sum, [, text]) => sum + text.length, 0));
      for (const [file, line] of places) {
        const key = `${this.files[file]}:${line}`;
        if (!this.rows.has(key)) this.rows.set(key, []);
        this.rows.get(key).push(row);
      }
    });
    // Forget the rows of the previous listing.
    this.drawn.clear();
    this.most = this.lines.reduce((most, line) => Math.max(most, line[6] || 0), 0);
    this.top = this.lines.reduce((most, line) => Math.max(most, line[3] || 0, line[7] || 0), 0);
    this.traced = this.lines.some((line) => line[7] !== null && line[7] !== undefined);
    this.lit = new Set();
    this.around = new Set();
    this.at = -1;
    this.wrong = -1;
    this.space.style.height = `${this.lines.length * HEIGHT}px`;
    this.space.style.minWidth = `${longest + 14}ch`;
    this.note.textContent = this.notes.join("; ");
    this.note.title = this.note.textContent;
    this.#draw();
  }

  /** Return the scroll position of the line with the largest share of the time. */
  hottest() {
    const most = this.lines.reduce((found, line) => Math.max(found, line[3] || 0), 0);
    const row = this.lines.findIndex((line) => most > 0 && line[3] === most);
    return Math.max(0, row * HEIGHT - this.view.clientHeight / 3);
  }

  stale(is) {
    this.root.classList.toggle("stale", is);
  }

  /** Highlight the lines of a place, and weakly those of its callers. Scroll to the first line unless it is visible. */
  light(key, chain, scroll = true) {
    this.lit = new Set(this.rows.get(key) || []);
    this.around = new Set(this.stage === "python" ? chain.flatMap((one) => this.rows.get(one) || []) : []);
    if (scroll) this.#show([...this.lit][0] ?? [...this.around][0]);
    this.#draw();
  }

  /** Highlight these rows and scroll to the first. */
  mark(rows) {
    this.lit = new Set(rows);
    this.around = new Set();
    this.at = rows[0] ?? -1;
    this.#show(rows[0]);
    this.#draw();
  }

  /** Mark the line of an error. */
  error(path, line) {
    this.wrong = path === null ? -1 : (this.#ofPath(path, line) ?? -1);
    if (this.wrong >= 0) this.#show(this.wrong);
    this.#draw();
  }

  #ofPath(path, line) {
    const file = this.files.find((one) => one === path) ?? this.files.find((one) => base(one) === base(path));
    return file === undefined ? undefined : this.rows.get(`${file}:${line}`)?.[0];
  }

  /** Return the row of a line number. */
  rowOf(number) {
    return this.lines.findIndex((line) => line[0] === number);
  }

  #choose() {
    this.stage = this.select.value;
    this.root.setAttribute("aria-busy", "true");
    this.clear();
    this.on.stage(this);
  }

  #pick(row) {
    if (row < 0 || row >= this.lines.length) return;
    this.at = row;
    this.#show(row);
    const places = this.lines[row][2].map(([file, line]) => `${this.files[file]}:${line}`);
    if (places.length) this.on.place(this, places[0], places.slice(1));
    this.#draw();
  }

  #key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    const last = this.lines.length - 1;
    if (event.ctrlKey || event.metaKey || event.altKey || last < 0) return;
    if (event.key in moves) this.#pick(Math.min(last, Math.max(0, this.at + moves[event.key])));
    else if (event.key === "Home") this.#pick(0);
    else if (event.key === "End") this.#pick(last);
    else if (event.key === "n" || event.key === "p") this.#next(event.key === "n");
    else return;
    event.preventDefault();
  }

  #next(forward) {
    const rows = [...this.lit].sort((a, b) => a - b);
    if (!rows.length) return;
    const found = forward ? rows.find((row) => row > this.at) : rows.findLast((row) => row < this.at);
    this.at = found ?? (forward ? rows[0] : rows.at(-1));
    this.#show(this.at);
    this.#draw();
  }

  #show(row) {
    if (row === undefined || row < 0) return;
    const top = row * HEIGHT;
    const { scrollTop, clientHeight } = this.view;
    if (top < scrollTop || top + HEIGHT > scrollTop + clientHeight) {
      this.view.scrollTop = Math.max(0, top - clientHeight / 3);
    }
  }

  /** Draw once before the next frame, even after several scroll events. */
  #soon() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.#draw();
    });
  }

  /** Draw the visible rows; rows that are already drawn are kept, and only their class is updated. */
  #draw() {
    const first = Math.max(0, Math.floor(this.view.scrollTop / HEIGHT) - SPARE);
    const end = Math.min(this.lines.length, first + Math.ceil(this.view.clientHeight / HEIGHT) + 2 * SPARE);
    const gone = this.drawn.size && [...this.drawn.keys()].filter((row) => row < first || row >= end);
    for (const row of gone || []) {
      this.drawn.get(row).remove();
      this.drawn.delete(row);
    }
    if (!this.drawn.size) this.space.replaceChildren();
    const made = [];
    for (let row = first; row < end; row += 1) {
      const known = this.drawn.get(row);
      const names = this.#names(row);
      if (known) {
        if (known.className !== names) known.className = names;
      } else {
        const one = this.#row(row);
        this.drawn.set(row, one);
        made.push(one);
      }
    }
    // Rows are positioned absolutely, so their order in the DOM does not matter.
    this.space.append(...made);
  }

  #names(row) {
    const names = ["row"];
    if (this.lit.has(row)) names.push("lit");
    else if (this.around.has(row)) names.push("around");
    if (row === this.at) names.push("at");
    if (row === this.wrong) names.push("wrong");
    return names.join(" ");
  }

  #row(row) {
    const [number, pieces, places, share, kind, about, live, measured] = this.lines[row];
    const made = make("div", { class: this.#names(row), role: "option", "data-row": row });
    made.style.top = `${row * HEIGHT}px`;
    made.append(make("b", {}, number ?? ""));
    if (this.top) made.append(this.#heat(share, measured));
    if (this.most) {
      const strip = make("s", {}, live ?? "");
      strip.style.setProperty("--live", `${Math.round((100 * (live || 0)) / this.most)}%`);
      made.append(strip);
    }
    for (const [name, text] of pieces) made.append(name ? make("span", { class: name }, text) : text);
    const words = [about || kind, live ? `${live} VGPRs are live` : "", share >= 0.0005 ? `${(100 * share).toFixed(1)} % of the predicted time` : "", measured >= 0.0005 ? `${(100 * measured).toFixed(1)} % of the measured time` : ""];
    made.title = [...words, ...places.map(([file, line]) => `${base(this.files[file])}:${line}`)].filter(Boolean).join(", ");
    return made;
  }

  /** Draw bars for a line's share of the predicted time and, below it, of the measured time. */
  #heat(share, measured) {
    const bar = (value, name) => {
      const made = make("i", { class: name });
      made.style.width = `${(100 * (value || 0)) / this.top}%`;
      return made;
    };
    return make("span", { class: this.traced ? "heat both" : "heat" }, bar(share, "modelled"), this.traced ? bar(measured, "measured") : null);
  }
}
