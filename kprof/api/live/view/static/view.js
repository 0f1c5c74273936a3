// The page: one query (target, GPU, case, knobs), its figures and its panes.

import { byId, choices, known, make } from "/dom.js";
import * as better from "/better.js";
import { differences } from "/difference.js";
import * as figures from "/figures.js";
import * as knobs from "/knobs.js";
import * as measured from "/measured.js";
import * as neighbours from "/neighbours.js";
import { Pane } from "/panes.js";
import * as roofline from "/roofline.js";
import * as occupancy from "/occupancy.js";
import { about, ask, listen, Refused } from "/server.js";
import { Timeline } from "/timeline.js";
import { plain, Tried } from "/tried.js";

let served;
let sheet = { knobs: [], notes: [], cases: [], gpus: [] };
let report = null;
let question = { target: 0 };
let turn = 0;
let tried;
let timeline;
let panes = [];
let selected = null;
// Default GPU and case of each target.
const homes = new Map();
// Listings of the shown query, by stage, because two panes may show the same stage.
let listings = new Map();
const BEGIN_WITH = ["python", "amdgcn", "ttgir"];

const say = (words) => {
  byId("status").textContent = words;
};

function complain(error) {
  const { path = null, place = null, hint = null } = error.answer || {};
  const words = [path, place].filter(Boolean).join(", ");
  byId("error").textContent = [words && `${words}:`, error.message, hint].filter(Boolean).join(" ");
  byId("error").hidden = false;
  for (const pane of panes) {
    pane.stale(true);
    const line = /\bline (\d+)/.exec(`${place || ""} ${error.message}`) || /:(\d+):/.exec(error.message);
    if (pane.stage === "python") pane.error(line ? path || served.targets[question.target].split("::")[0] : null, line?.[1]);
  }
  for (const id of ["figures", "findings"]) byId(id).classList.add("stale");
  say("");
}

function fine() {
  byId("error").hidden = true;
  for (const pane of panes) pane.stale(false);
  for (const id of ["figures", "findings"]) byId(id).classList.remove("stale");
}

/** Send the current query and show its answer; ignore the answer if a newer query was sent meanwhile. */
async function refresh({ sheetToo = false } = {}) {
  turn += 1;
  const mine = turn;
  const began = performance.now();
  say("compiling …");
  try {
    if (sheetToo) {
      const { config: _, constexpr: __, ...plain } = question;
      const found = await ask("knobs", plain);
      if (mine !== turn) return;
      sheet = found;
      if (!homes.has(question.target)) homes.set(question.target, { arch: sheet.gpu, case: firstCase() });
      controls();
    }
    const found = await ask("report", question);
    if (mine !== turn) return;
    fine();
    report = found;
    kernels();
    if (!report.kernels.length) throw new Refused(422, { message: report.verdict.summary });
    figures.draw(report, report.kernels[question.kernel || 0], (finding) => jump(finding).catch(complain));
    const kernel = report.kernels[question.kernel || 0];
    occupancy.begin(kernel, kernel.product || kernel.arch);
    tried.mark(question);
    rooflines();
    measured.show(kernel, report.notes || [], atLine);
    say(`answered in ${Math.round(performance.now() - began)} ms`);
    listings = new Map();
    await Promise.all([...panes.map((pane) => fill(pane)), wavefronts()]);
  } catch (error) {
    if (mine !== turn) return;
    if (!(error instanceof Refused)) console.warn(error);
    complain(error);
  }
}

function rooflines() {
  const model = report?.kernels[question.kernel || 0]?.model;
  if (report) roofline.show({ roofline: model?.roofline, us: model?.time_us }, tried.others(question));
}

async function listing(stage) {
  if (!listings.has(stage)) listings.set(stage, ask("listing", { ...question, stage }));
  return listings.get(stage);
}

async function fill(pane, { scroll = false } = {}) {
  const [mine, stage] = [turn, pane.stage];
  const found = await listing(stage);
  if (mine !== turn || stage !== pane.stage) return;
  const at = pane.view.scrollTop;
  pane.show(found);
  pane.view.scrollTop = at || pane.hottest();
  pane.root.dataset.turn = mine;
  pane.root.dataset.stage = stage;
  pane.root.removeAttribute("aria-busy");
  if (selected) pane.light(selected.key, selected.chain, scroll);
}

/** Add or remove panes to get the selected number; return the new ones. */
function arrange() {
  const count = Number(byId("pane-count").value);
  for (const gone of panes.splice(count)) gone.root.remove();
  const made = BEGIN_WITH.slice(panes.length, count).map((stage, at) => {
    const root = make("div", { class: "pane", id: `pane-${panes.length + at}` });
    byId("panes").append(root);
    return new Pane(root, served.stages, stage, { stage: (pane) => fill(pane, { scroll: true }).catch(complain), place });
  });
  panes.push(...made);
  byId("panes").style.setProperty("--panes", count);
  return made;
}

const firstCase = () => served.options.case ?? sheet.cases[0];

function controls() {
  choices(byId("gpu"), sheet.gpus.map(([product, arch]) => [product, `${product} (${arch})`]), question.arch || sheet.gpu);
  byId("gpu").parentElement.hidden = !sheet.gpus.length;
  choices(byId("case"), sheet.cases.map((one) => [one, one]), question.case ?? firstCase());
  byId("case-choice").hidden = sheet.cases.length < 2;
  byId("better-part").hidden = !sheet.cases.length;
  for (const id of ["neighbours", "neighbours-words"]) byId(id).hidden = !sheet.knobs.length;
  const tritons = sheet.triton ? served.tritons : [];
  choices(byId("triton-version"), [["", "installed"], ...tritons.map((one) => [one, one])], question.triton || "");
  byId("triton-choice").hidden = !tritons.length;
  byId("triton").textContent = !sheet.triton ? "" : tritons.length ? sheet.triton : `Triton ${sheet.triton}`;
  knobs.draw(sheet, question, (knob, value) => {
    const { [knob.name]: _, ...others } = question[knob.option] || {};
    const now = value === knob.value ? others : { ...others, [knob.name]: value };
    change({ [knob.option]: now });
  });
}

function kernels() {
  const names = report.kernels.map((kernel, at) => [String(at), kernel.name]);
  if ((question.kernel || 0) >= names.length) delete question.kernel;
  choices(byId("kernel"), names, String(question.kernel || 0));
  byId("kernel-choice").hidden = names.length < 2;
}

/** Change the query. Values equal to the server's defaults are omitted, so that equivalent queries are equal. */
function change(parts, options = {}) {
  const changed = { ...question, ...parts };
  better.forget();
  neighbours.forget();
  const home = homes.get(changed.target) || {};
  const said = ([name, value]) => {
    if (name === "target") return true;
    if (value === null || typeof value !== "object") return Boolean(value) && value !== home[name];
    return Object.keys(value).length > 0;
  };
  question = Object.fromEntries(Object.entries(changed).filter(said));
  controls();
  refresh(options);
}

function place(from, key, chain) {
  selected = { key, chain };
  for (const pane of panes) pane.light(key, chain, pane !== from);
}

/** Return the pane that shows the instructions; if there is none, switch the last pane to them. */
async function instructions() {
  const pane = panes.find((one) => one.stage === "amdgcn") || panes.at(-1);
  if (pane.stage !== "amdgcn") {
    pane.stage = "amdgcn";
    pane.select.value = "amdgcn";
    await fill(pane);
  }
  return pane;
}

/** Draw the wavefronts of the shown query if the timeline is open. */
async function wavefronts() {
  if (!byId("timeline-open").open || byId("timeline-open").dataset.turn === String(turn)) return;
  const mine = turn;
  byId("timeline-words").textContent = "simulating …";
  try {
    const found = await ask("wavefronts", question);
    if (mine !== turn) return;
    timeline.show(found);
    byId("timeline-open").dataset.turn = mine;
  } catch (error) {
    if (mine === turn) byId("timeline-words").textContent = error.message;
  }
}

/** Highlight the source line `file:line` in all panes. */
function atLine(place) {
  for (const pane of panes) {
    const key = [...pane.rows.keys()].find((one) => one === place || one.endsWith(`/${place}`));
    if (key) pane.light(key, []);
  }
}

/** Scroll to the instruction on an assembly line. */
async function goTo(line) {
  const pane = await instructions();
  const row = pane.rowOf(line);
  if (row >= 0) pane.mark([row]);
}

/** Scroll to the instructions of a finding. */
async function jump(finding) {
  const pane = await instructions();
  const { file = null, line = null } = finding.location || {};
  const { loop = null, cause = null } = finding.evidence || {};
  const text = (value) => (typeof value === "string" ? value.slice(0, 100) : null);
  const { lines } = await ask("landing", { ...question, rule: finding.rule, file, line, loop: text(loop), cause: text(cause) });
  if (line !== null) for (const other of panes) if (other !== pane) other.light(`${file}:${line}`, []);
  if (lines.length) pane.mark(lines.map((one) => pane.rowOf(one)).filter((row) => row >= 0));
  else say(`${finding.rule} is about the launch or the kernel as a whole, no single instruction`);
  pane.view.focus();
}

async function copy(text) {
  byId("copied").textContent = text;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The text is shown on the page, where the user can select it.
  }
}

function heard(kind, news) {
  if (kind === "result") {
    tried.add(news);
    tried.draw();
    rooflines();
  } else if (kind === "changed" && news.target === question.target) {
    refresh({ sheetToo: true });
  }
}

const value = (one) => (typeof one === "number" ? known(one) : (one ?? "unknown"));

/** Show the differences in the compiled code of two pinned rows below the table. */
async function compare([old, now]) {
  if (old.question.target !== now.question.target || old.words.includes("(save") !== now.words.includes("(save")) return;
  const bare = ({ kernel: _, ...asked }) => asked;
  byId("differences")?.replaceChildren(
    differences(served.stages, (stage) => ask("difference", { old: { ...old.question, stage }, new: now.question })),
  );
  try {
    const found = await ask("compare", { old: bare(old.question), new: bare(now.question) });
    const list = found.changes.map((one) => make("li", { class: one.effect }, `${one.text}: ${value(one.old)} → ${value(one.new)}`, make("span", { class: "note" }, [one.note, one.where].filter(Boolean).map((words) => ` ${words}`).join(","))));
    byId("changes")?.replaceChildren(...list);
  } catch (error) {
    byId("changes")?.replaceChildren(make("li", { class: "wrong" }, error.message));
  }
}

async function start() {
  try {
    served = await about();
  } catch (error) {
    byId("error").textContent = error.message;
    byId("error").hidden = false;
    return;
  }
  choices(byId("target"), served.targets.map((one, at) => [String(at), one]), "0");
  tried = new Tried(served.targets, (asked) => {
    const { target, arch, case: chosen, triton } = plain(question);
    question = { target: asked.target };
    change(asked, { sheetToo: target !== asked.target || arch !== asked.arch || chosen !== asked.case || triton !== asked.triton });
  });
  for (const one of served.results) tried.add(one);
  byId("pane-count").addEventListener("change", () => arrange().forEach((pane) => fill(pane).catch(complain)));
  arrange();
  timeline = new Timeline((line) => goTo(line).catch(complain));
  byId("timeline-open").addEventListener("toggle", wavefronts);
  byId("compared").addEventListener("compare", (event) => compare(event.detail));
  byId("target").addEventListener("change", () => {
    question = { target: 0 };
    selected = null;
    change({ target: Number(byId("target").value) }, { sheetToo: true });
  });
  byId("gpu").addEventListener("change", () => change({ arch: byId("gpu").value }, { sheetToo: true }));
  byId("case").addEventListener("change", () => change({ case: byId("case").value }, { sheetToo: true }));
  byId("triton-version").addEventListener("change", () => change({ triton: byId("triton-version").value }, { sheetToo: true }));
  byId("kernel").addEventListener("change", () => change({ kernel: Number(byId("kernel").value) }));
  byId("reset").addEventListener("click", () => change({ config: {}, constexpr: {} }));
  byId("better").addEventListener("click", () =>
    better.find(question, sheet, (found) => change({ config: { ...(question.config || {}), ...found } })),
  );
  byId("neighbours").addEventListener("click", () => neighbours.compile(question, sheet));
  byId("stop").addEventListener("click", better.forget);
  byId("copy").addEventListener("click", () => copy(knobs.tritonConfig(sheet, question)));
  byId("copy-command").addEventListener("click", () => copy(knobs.command(served.targets[question.target], question, served.options)));
  listen(heard, (words) => words && say(words));
  await refresh({ sheetToo: true });
}

start();
