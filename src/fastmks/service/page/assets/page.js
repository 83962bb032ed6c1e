// The page: a query, and the answer of each kernel. One request at a time; late answers are dropped.

import { ALGORITHMS, Controls } from "./controls.js";
import { count, described, drawing, element, forgetColours } from "./drawings.js";
import { Objects } from "./objects.js";
import { Panel } from "./panels.js";
import { ask, keepToken } from "./service.js";
import { readState, writeState } from "./state.js";

const DELAY = 90; // milliseconds without a change before a request is sent
const WRITTEN = {
  row: "Numbers with commas between them", image: "Shades with commas between them",
  bits: "Bits, 0 or 1, with commas between them", sequence: "A sequence", text: "A text",
  set: "Members with commas between them",
};
const SMALL = matchMedia("(max-width: 52rem)");
const at = (id) => document.getElementById(id);
const page = { about: null, state: null, panels: new Map(), pictures: new Map(), stop: null, timer: 0 };

function report(error) {
  if (error.name === "AbortError") return;
  at("notice").textContent = error.message;
  at("notice").hidden = false;
  at("token-form").hidden = error.status !== 401;
}

async function start() {
  at("notice").hidden = true;
  at("token-form").hidden = true;
  try {
    await learn();
    if (page.about.size === 0) throw new Error("The index holds no objects yet.");
    const { objects } = await ask("page/objects?from=0&n=1");
    page.first = objects[0].id;
  } catch (error) {
    report(error);
    return;
  }
  restore();
  page.objects = new Objects(page.about, { pick: (id) => pick({ id }), fail: report });
  page.controls = new Controls(page.about, page.state, () => ask_soon());
  offerWriting();
  page.objects.selected = page.state.id;
  await page.objects.show(0);
  ask_soon(0);
}

/** Load the facts of the index; again after it changed. */
async function learn() {
  const about = await ask("page/about");
  page.about = about;
  page.pictures.clear();
  const kernel = about.kernels[0]?.label ?? "";
  const only = about.is_large ? " The index is large: only its own kernel is compared." : "";
  at("subject").textContent = `One query, several kernels: ${count(about.size)} ${about.kind}, indexed under ${kernel}.${only}`;
}

/** Load the facts of the current index. Return whether the kernels offered have changed. */
async function relearn() {
  const before = page.about.kernels.map((kernel) => kernel.text);
  await learn();
  const now = page.about.kernels.map((kernel) => kernel.text);
  page.objects.about = page.about;
  if (String(before) === String(now) || now.length === 0) return false;
  const kept = now.filter((_, i) => page.state.kernels.includes(before[i]));
  page.state.kernels = kept.length ? kept : now;
  page.panels.clear();
  page.controls = new Controls(page.about, page.state, () => ask_soon());
  return true;
}

/** Read the address; missing and wrong settings get their defaults. */
function restore() {
  const { about } = page;
  const state = readState(location.hash);
  const known = about.kernels.map((kernel) => kernel.text);
  const kernels = (state.kernels ?? []).filter((text) => known.includes(text));
  const { least, most, value } = about.sliders.k;
  state.kernels = kernels.length ? kernels : known;
  state.k = state.k === null ? value : Math.min(most, Math.max(least, Math.round(state.k)));
  if (!ALGORITHMS.includes(state.algorithm)) state.algorithm = about.kernels[0].algorithms[0];
  if (state.epsilon !== null) state.epsilon = Math.min(1, state.epsilon);
  for (const name of ["rank", "budget"]) {
    if (state[name] !== null) state[name] = Math.min(about.size, Math.max(state.k, Math.round(state[name])));
  }
  if (state.rank !== null) state.epsilon = state.budget = null;
  if (state.budget !== null) state.algorithm = "tree";
  if (state.id === null && state.object === null) state.id = page.first;
  page.state = state;
}

function pick({ id = null, object = null }) {
  Object.assign(page.state, { id, object });
  page.objects.select(id);
  ask_soon(0);
}

function ask_soon(delay = DELAY) {
  history.replaceState(null, "", writeState(page.state));
  at("answers").setAttribute("aria-busy", "true");
  clearTimeout(page.timer);
  page.timer = setTimeout(answer, delay);
}

/** Ask for one kernel after the other: searches that run at once would disturb each other’s times. */
async function answer() {
  page.stop?.abort();
  const stop = (page.stop = new AbortController());
  const kernels = page.about.kernels.filter((kernel) => page.state.kernels.includes(kernel.text));
  const panels = kernels.map(panelOf);
  const isLaid = [...at("answers").children].every((one, i) => one === panels[i]?.root);
  if (!isLaid || at("answers").childElementCount !== panels.length) {
    at("answers").replaceChildren(...panels.map((panel) => panel.root));
  }
  for (const panel of panels) panel.busy(true);
  at("notice").hidden = true;
  for (const panel of panels) {
    try {
      await answerOne(panel, stop.signal);
      if (stop.signal.aborted) return;
    } catch (error) {
      if (error.name === "AbortError" || stop.signal.aborted) return;
      if (error.status === 400 && (await relearn().catch(() => false))) return ask_soon(0);
      panel.fail(error.message);
      if (error.status === 0 || error.status === 401 || error.status === 403) {
        report(error);
        for (const other of panels) other.busy(false);
        break;
      }
    }
  }
  at("answers").setAttribute("aria-busy", "false");
}

async function answerOne(panel, signal) {
  const { kernel } = panel;
  const request = requestFor(kernel);
  const found = await ask("page/compare", { body: request, signal });
  if (found.version !== page.about.version && (await relearn())) {
    ask_soon(0);
    throw new DOMException("other kernels are offered by now", "AbortError");
  }
  const pictures = await picturesOf(kernel, found, signal);
  if (signal.aborted) return;
  panel.show(found, pictures, { algorithm: page.state.algorithm, epsilon: request.epsilon });
  showQuery(found.query);
}

function requestFor(kernel) {
  const { state } = page;
  const algorithm = kernel.algorithms.includes(state.algorithm) ? state.algorithm : "auto";
  const request = { kernel: kernel.text, k: state.k, algorithm };
  if (state.object !== null) request.object = state.object;
  else request.id = state.id;
  if (state.epsilon !== null) request.epsilon = state.epsilon * kernel.epsilon_most;
  if (state.rank !== null) request.rank = state.rank;
  if (state.budget !== null && algorithm === "tree") request.budget = state.budget;
  return request;
}

/** The pictures of a kernel before any search, loaded once. */
async function picturesOf(kernel, found, signal) {
  const key = `${kernel.text} ${found.tree !== null}`;
  const kept = page.pictures.get(key);
  if (kept && kept.version === found.version) return kept;
  const path = `page/pictures?kernel=${encodeURIComponent(kernel.text)}&tree=${found.tree !== null}`;
  const fresh = await ask(path, { signal });
  if (fresh.version !== found.version) return { map: null, tree: null };
  page.pictures.set(key, fresh);
  return fresh;
}

function panelOf(kernel) {
  if (!page.panels.has(kernel.text)) {
    page.panels.set(kernel.text, new Panel(kernel, page.about.form, (id) => pick({ id })));
  }
  return page.panels.get(kernel.text);
}

function showQuery(query) {
  const box = at("query");
  const shown = drawing(page.about.form, query);
  const name = element("p", { className: "muted", text: query.id === null ? "your own query" : `id ${query.id}` });
  box.replaceChildren(shown, name);
  box.setAttribute("aria-label", `The query: ${described(page.about.form, query)}`);
}

function offerWriting() {
  const label = WRITTEN[page.about.form];
  at("write").hidden = label === undefined;
  const columns = page.about.n_columns ? ` (${page.about.n_columns} of them)` : "";
  at("write-label").textContent = `${label}${columns}`;
}

function written(text) {
  const { form } = page.about;
  if (form === "sequence") return text.replace(/\s+/g, "");
  if (form === "text") return text;
  const parts = text.split(/[,;\s]+/).filter((part) => part !== "");
  return form === "set" ? parts : parts.map(Number);
}

function showTheme() {
  const kept = localStorage.getItem("fastmks-theme");
  const root = document.documentElement;
  if (kept) root.dataset.theme = kept;
  const isDark = (kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  at("theme").setAttribute("aria-pressed", String(isDark));
  return isDark;
}

/** Drawings have their colours in them. */
function recolour() {
  showTheme();
  forgetColours();
  if (!page.objects) return;
  page.objects.show(page.objects.begin);
  ask_soon(0);
}

function wire() {
  at("theme").onclick = () => {
    localStorage.setItem("fastmks-theme", showTheme() ? "light" : "dark");
    recolour();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  at("random").onclick = async () => {
    const from = Math.floor(Math.random() * page.about.size);
    const found = await ask(`page/objects?from=${from}&n=1`).catch(report);
    if (!found?.objects.length) return;
    await page.objects.show(from - (from % page.objects.nShown));
    pick({ id: found.objects[0].id });
  };
  at("find").onsubmit = (event) => {
    event.preventDefault();
    const id = at("find-id").value;
    if (id !== "" && page.about) pick({ id });
  };
  at("write-form").onsubmit = (event) => {
    event.preventDefault();
    pick({ object: written(at("write-text").value) });
  };
  at("token-form").onsubmit = (event) => {
    event.preventDefault();
    keepToken(at("token").value);
    start();
  };
  addEventListener("hashchange", () => {
    if (!page.about) return;
    restore();
    page.controls.state = page.state;
    page.controls.show();
    page.objects.select(page.state.id);
    ask_soon(0);
  });
}

function fold() {
  at("settings").open = !SMALL.matches;
}

showTheme();
fold();
SMALL.addEventListener("change", fold);
wire();
start();
