"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const reveal = (element) => {
    for (let e = element; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  };
  const show = (element) => {
    const pane = element.closest(".pane");
    const box = pane.getBoundingClientRect(), at = element.getBoundingClientRect();
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
    const fromSource = element.tagName === "TR";
    const others = same.filter((one) => (one.tagName === "TR") !== fromSource);
    const key = `${kernel.id} ${place} ${fromSource}`;
    turn = key === last && others.length ? (turn + 1) % others.length : 0;
    last = key;
    if (others.length) show(others[turn]);
  };
  document.addEventListener("click", (event) => {
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
  }
  follow();
})();
