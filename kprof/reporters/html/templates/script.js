"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const reveal = (element) => {
    for (let e = element; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  };
  const show = (element, part = element) => {
    const pane = element.closest(".pane");
    const box = pane.getBoundingClientRect(), at = part.getBoundingClientRect();
    pane.scrollTop += at.top - box.top - pane.clientHeight / 3;
  };
  let last = "", turn = 0;
  const mark = (element, move) => {
    const kernel = element.closest(".kernel"), place = element.dataset.l;
    if (!kernel || !/^\d+-\d+$/.test(place)) return;
    for (const old of document.querySelectorAll(".on")) old.classList.remove("on");
    const same = [...kernel.querySelectorAll(`[data-l="${place}"]`)];
    for (const one of same) one.classList.add("on");
    if (!move) return;
    const home = element.closest(".pane"), panes = [...kernel.querySelectorAll(".pane")];
    const key = `${kernel.id} ${place} ${panes.indexOf(home)}`;
    turn = key === last ? turn + 1 : 0;
    last = key;
    for (const pane of panes) {
      const there = pane === home ? [] : same.filter((one) => pane.contains(one));
      if (there.length) show(there[turn % there.length]);
    }
  };
  // A finding's own instructions: all lit, one after the other in sight.
  const go = (link) => {
    const found = link.dataset.go.split(" ").map((id) => document.getElementById(id)).filter(Boolean);
    if (!found.length) return;
    for (const old of document.querySelectorAll(".on")) old.classList.remove("on");
    for (const one of found) one.classList.add("on");
    const key = link.dataset.go;
    turn = key === last ? turn + 1 : 0;
    last = key;
    const one = found[turn % found.length];
    one.closest(".pane").scrollIntoView({ block: "nearest" });
    show(one);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.go");
    if (link) {
      event.preventDefault();
      go(link);
      return;
    }
    const element = event.target.closest("[data-l]");
    if (!element || String(getSelection())) return;
    if (event.target.closest("a")) event.preventDefault();
    mark(element, true);
  });
  const follow = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    reveal(target);
    target.scrollIntoView({ block: "nearest" });
    if (target.dataset.l) { mark(target, true); show(target); }
  };
  addEventListener("hashchange", follow);
  // Each pair of panes begins where the time goes.
  for (const pane of document.querySelectorAll(".pane")) {
    let hottest = null;
    for (const step of ["h4", "h3", "h2"]) hottest ||= pane.querySelector(`tr.${step}, u.${step}`);
    if (hottest) show(hottest);
    if (hottest && hottest.dataset.l) {
      const same = pane.closest(".kernel").querySelector(`.ir [data-l="${hottest.dataset.l}"]`);
      if (same) show(same);
    }
  }
  follow();
  // Source, TTGIR and instructions are searched together: hits are lit and counted, Enter goes to the next, Shift+Enter back.
  const MOST = 5000;
  const hitsIn = (pane, word) => {
    const found = [], texts = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node && found.length < MOST; node = texts.nextNode()) {
      const text = node.data.toLowerCase();
      for (let at = text.indexOf(word); at >= 0 && found.length < MOST; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        found.push(range);
      }
    }
    return found;
  };
  const light = (name, ranges) => {
    if (globalThis.Highlight && CSS.highlights) CSS.highlights.set(name, new Highlight(...ranges));
  };
  for (const group of document.querySelectorAll(".pair, .alone")) {
    const search = document.createElement("input"), said = document.createElement("output");
    let hits = [], at = -1;
    search.type = "search";
    search.placeholder = "Search source and instructions";
    search.setAttribute("aria-label", search.placeholder);
    said.className = "dim found";
    search.addEventListener("input", () => {
      const word = search.value.toLowerCase();
      hits = word ? [...group.querySelectorAll(".pane")].flatMap((pane) => hitsIn(pane, word)) : [];
      at = -1;
      light("found", hits);
      light("now", []);
      said.textContent = word ? `${hits.length.toLocaleString("en")} found${hits.length ? "; Enter goes to the next" : ""}` : "";
    });
    search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !hits.length) return;
      event.preventDefault();
      at = event.shiftKey ? (at <= 0 ? hits.length : at) - 1 : (at + 1) % hits.length;
      light("now", [hits[at]]);
      show(hits[at].startContainer.parentElement, hits[at]);
      said.textContent = `${(at + 1).toLocaleString("en")} of ${hits.length.toLocaleString("en")}`;
    });
    group.before(search, said);
  }
  // Lists: sorted by a click on a heading, and searched.
  const value = (row, at) => row.cells[at].textContent.trim();
  const scale = { "ns": 1e-3, "µs": 1, "us": 1, "ms": 1e3, "s": 1e6 };
  const order = (text) => {
    const found = /^([\d.,]+)\s*(ns|µs|us|ms|s)?\b/.exec(text);
    return found ? Number(found[1].replaceAll(",", "")) * (scale[found[2]] || 1) : null;
  };
  const compare = (a, b) => {
    const [x, y] = [order(a), order(b)];
    if (x !== null && y !== null) return x - y;
    return x === null && y === null ? a.localeCompare(b) : x === null ? 1 : -1;
  };
  for (const table of document.querySelectorAll("table.index")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        body.append(...[...body.rows].sort((a, b) => sign * compare(value(a, at), value(b, at))));
      });
    });
    const search = document.createElement("input");
    search.type = "search";
    search.placeholder = "Search";
    search.setAttribute("aria-label", "Search the list");
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of body.rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    });
    table.closest(".wide").before(search);
  }
})();
