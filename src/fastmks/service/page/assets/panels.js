// One panel for each kernel: the matches, their cost, and the pruned objects.

import { count, described, drawing, duration, element, figure, short, shortBound } from "./drawings.js";
import { drawMap, drawTree } from "./pictures.js";

const KINDS = { image: "images", row: "rows", bits: "rows" };
const SAYS_NOTHING = "–";

export class Panel {
  /** `pick` is called with the id of a match that is to be the next query. */
  constructor(kernel, form, pick) {
    this.kernel = kernel;
    this.form = form;
    this.pick = pick;
    this.answer = null;
    this.pictures = null;
    this.root = element("article", { className: "panel", "aria-labelledby": `title-${kernel.text}` });
    this.root.dataset.kernel = kernel.text;
    this.#lay();
    this.#watch();
  }

  #lay() {
    const [name, parameters] = nameOf(this.kernel.label);
    this.parameters = parameters;
    const title = element("h3", { id: `title-${this.kernel.text}`, text: name, title: this.kernel.label });
    this.note = element("p", { className: "muted", text: " " });
    this.problem = element("p", { className: "error", role: "alert" });
    this.problem.hidden = true;
    this.head = element("header", {}, title, this.note, this.problem);
    this.exactBar = element("span", { className: "exact" });
    this.spentBar = element("span", { className: "spent" });
    const bar = element("div", { className: "bar", "aria-hidden": "true" }, this.exactBar, this.spentBar);
    this.figures = element("dl", { className: "figures" });
    this.cost = element("div", {}, bar, this.figures);
    this.hits = element("ol", { className: `hits ${KINDS[this.form] ?? "texts"}` });
    this.map = pictureOf("map", "The objects that the search evaluated");
    this.map.caption.append(
      element("span", { className: "key", text: "pruned" }),
      element("span", { className: "key evaluated", text: "evaluated" }),
      element("span", { className: "key hit", text: "match" }),
      element("span", { text: "+ query" }),
    );
    this.tree = pictureOf("tree", "The cover tree");
    this.tree.caption.textContent = "The cover tree: subtrees from the root down, objects at the foot; grey was pruned.";
    this.plan = element("div", { className: "plan" });
    this.root.append(this.head, this.cost, this.hits, this.map.root, this.tree.root, this.plan);
    this.#figures([["Evaluations", SAYS_NOTHING, " "], ["Time", SAYS_NOTHING, " "], ["Gap", SAYS_NOTHING, " "], ["Found", SAYS_NOTHING, " "]]);
  }

  #watch() {
    new ResizeObserver(() => this.redraw()).observe(this.map.canvas);
  }

  busy(is_busy) {
    this.root.setAttribute("aria-busy", String(is_busy));
  }

  fail(words) {
    this.busy(false);
    this.problem.textContent = words;
    this.problem.hidden = false;
    this.root.classList.add("failed"); // the matches below are of an earlier query
  }

  /** Show an answer, with the pictures of the kernel it was given under. */
  show(answer, pictures, { algorithm: wanted, epsilon }) {
    this.answer = answer;
    this.pictures = pictures;
    this.problem.hidden = true;
    this.root.classList.remove("failed");
    this.busy(false);
    const instead = answer.algorithm !== wanted && wanted !== "auto" ? ` (no ${wanted} under this kernel)` : "";
    const parts = [this.parameters, answer.kernel === "own" ? "the index’s own" : "", `by ${answer.algorithm}${instead}`];
    if (epsilon !== undefined) parts.push(`epsilon = ${short(epsilon)}`);
    this.note.textContent = parts.filter((part) => part !== "").join(", ");
    this.#showCost(answer);
    this.#showHits(answer);
    this.#showPlan(answer.plan);
    this.map.root.hidden = answer.map === null || pictures.map === null;
    this.tree.root.hidden = answer.tree === null || pictures.tree === null;
    if (!this.map.root.hidden) describe(this.map.canvas, answer.map.words);
    if (!this.tree.root.hidden) describe(this.tree.canvas, answer.tree.words);
    this.redraw();
  }

  redraw() {
    if (this.answer === null) return;
    if (!this.map.root.hidden) drawMap(this.map.canvas, this.pictures.map.points, this.answer.map);
    if (!this.tree.root.hidden) drawTree(this.tree.canvas, this.pictures.tree, this.answer.tree);
  }

  #figures(rows) {
    this.figures.replaceChildren(
      ...rows.map(([name, value, more]) => {
        const shown = element("dd", { text: value });
        shown.append(element("small", { text: more }));
        shown.dataset.figure = name.toLowerCase();
        return element("div", {}, element("dt", { text: name }), shown);
      }),
    );
  }

  #showCost(answer) {
    const { exact } = answer;
    const is_exact_search = exact.seconds === null;
    const share = (number) => `${((100 * number) / answer.scan_evaluations).toFixed(1)}%`;
    this.spentBar.style.width = share(answer.evaluations);
    this.exactBar.style.width = share(is_exact_search ? 0 : exact.evaluations);
    const scanTime = answer.scan_seconds === null ? " " : `a scan: ${duration(answer.scan_seconds)}`;
    const isSame = exact.found === answer.k;
    this.#figures([
      ["Evaluations", count(answer.evaluations),
        is_exact_search ? `${share(answer.evaluations)} of ${count(answer.scan_evaluations)}` : `exact: ${count(exact.evaluations)}`],
      ["Time", duration(answer.seconds), is_exact_search ? scanTime : `exact: ${duration(exact.seconds)}`],
      ["Gap", ...gapOf(answer.gap)],
      ["Found", `${exact.found} of ${answer.k}`, isSame ? "all of the best" : "others are faint"],
    ]);
  }

  #showHits(answer) {
    this.hits.replaceChildren(...answer.hits.map((hit) => this.#hit(hit, answer.query)));
  }

  #hit(hit, query) {
    const is_image = this.form === "image";
    const button = element("button", { type: "button" });
    const self = KINDS[this.form] ? "query" : `${hit.id} (query)`;
    button.append(
      element("span", { className: "id", text: hit.is_query ? self : hit.id, title: hit.id }),
      element("span", { className: "value", text: is_image ? short(hit.value) : figure(hit.value), title: String(hit.value) }),
    );
    const picture = drawing(this.form, hit, query);
    if (is_image) button.prepend(picture);
    else button.append(picture);
    button.setAttribute("aria-label", `${described(this.form, hit)}, value ${figure(hit.value)}${hit.is_exact ? "" : ", not among the true best"}. Search for it`);
    button.dataset.id = hit.id;
    button.addEventListener("click", () => this.pick(hit.id));
    const classes = [hit.is_query ? "self" : "", hit.is_exact ? "" : "missed"];
    return element("li", { className: classes.join(" ").trim() }, button);
  }

  #showPlan(plan) {
    const is_open = this.plan.querySelector("details")?.open ?? false;
    if (plan.forecasts.length === 0) {
      this.plan.replaceChildren(element("p", { text: plan.sentence }));
      return;
    }
    const rows = plan.forecasts.map((one) =>
      element("tr", {},
        element("th", { text: one.algorithm, scope: "row" }),
        element("td", { text: one.seconds === null ? "unknown" : duration(one.seconds) }),
        element("td", { text: one.build_seconds > 0 ? `and ${duration(one.build_seconds)} to build` : "" }),
        element("td", { text: `from ${one.basis}` })),
    );
    const details = element("details", {}, element("summary", { text: plan.sentence }), element("table", {}, ...rows));
    details.open = is_open;
    this.plan.replaceChildren(details);
  }
}

/** How far the true values may be above those shown, and in what sense; null where nothing bounds it. */
function gapOf(gap) {
  if (gap === null) return ["unknown", "nothing bounds it"];
  return gap === 0 ? ["0", "proven exact"] : [`≤ ${shortBound(gap)}`, "certified"];
}

/** The name of a kernel and its parameters, where it is no sum or the like. */
function nameOf(label) {
  const parts = label.match(/^(\w+)\(([^()]*)\)(, normalized)?$/);
  return parts ? [parts[1], parts[2].replaceAll("=", " = ") + (parts[3] ?? "")] : [label, ""];
}

function pictureOf(name, label) {
  const canvas = element("canvas", { role: "img", "aria-label": label });
  const caption = element("figcaption");
  return { canvas, caption, root: element("figure", { className: name }, canvas, caption) };
}

function describe(canvas, words) {
  canvas.setAttribute("aria-label", words);
  canvas.title = words;
}
