// The sliders and choices: they show the state and change it.

import { count, element } from "./drawings.js";
import { countAt, stepOf } from "./state.js";

const HINTS = {
  tree: "Walks a cover tree and prunes subtrees that cannot hold a match. It is built at the first search, which takes long for many objects.",
  filter: "Bounds every value at low cost and evaluates the objects that the bounds do not prune.",
  auto: "Chooses between scan and filter by measured times.",
  scan: "Evaluates every object.",
};
/** The algorithms that the page offers, in the order of its list. */
export const ALGORITHMS = Object.keys(HINTS);
const APPROXIMATE = ["epsilon", "rank", "budget"];
const at = (id) => document.getElementById(id);

export class Controls {
  /** `changed` is called after any change. The state is changed in place. */
  constructor(about, state, changed) {
    this.about = about;
    this.state = state;
    this.changed = changed;
    this.steps = {
      epsilon: 15,
      rank: stepOf(about.sliders.rank.value, about.size),
      budget: stepOf(about.sliders.budget.value, about.size),
    };
    at("k").max = about.sliders.k.most;
    at("k").oninput = () => this.#set({ k: Number(at("k").value) });
    at("algorithm").replaceChildren(...ALGORITHMS.map((name) => element("option", { value: name, text: name })));
    at("algorithm").onchange = () => this.#choose(at("algorithm").value);
    for (const name of APPROXIMATE) {
      at(name).oninput = () => {
        this.steps[name] = Number(at(name).value);
        this.#turn(name, true);
      };
      at(`${name}-on`).onchange = () => this.#turn(name, at(`${name}-on`).checked);
    }
    this.#listKernels();
    this.show();
  }

  #listKernels() {
    const box = at("kernels");
    for (const old of box.querySelectorAll(".pick")) old.remove();
    for (const kernel of this.about.kernels) {
      const input = element("input", { type: "checkbox", value: kernel.text });
      input.onchange = () => {
        const wanted = [...box.querySelectorAll("input:checked")].map((one) => one.value);
        if (wanted.length === 0) input.checked = true;
        else this.#set({ kernels: wanted });
      };
      box.append(element("label", { className: "pick" }, input, element("span", { text: kernel.label })));
    }
  }

  /** Set the sliders to the state. */
  show() {
    const { state, about } = this;
    at("k").value = state.k;
    at("k-shown").textContent = count(state.k);
    at("algorithm").value = state.algorithm;
    at("algorithm-hint").textContent = HINTS[state.algorithm];
    for (const option of at("algorithm").options) {
      option.hidden = !about.kernels.some((kernel) => kernel.algorithms.includes(option.value));
    }
    if (state.epsilon !== null) this.steps.epsilon = Math.round(100 * state.epsilon);
    for (const name of ["rank", "budget"]) {
      const is_shown_so = state[name] === this.#count(name);
      if (state[name] !== null && !is_shown_so) this.steps[name] = stepOf(state[name], about.size);
    }
    for (const name of APPROXIMATE) this.#showOne(name);
    for (const input of at("kernels").querySelectorAll("input")) {
      input.checked = state.kernels.includes(input.value);
    }
  }

  #showOne(name) {
    const is_on = this.state[name] !== null;
    const shown = name === "epsilon" ? `${this.steps.epsilon} %` : count(is_on ? this.state[name] : this.#count(name));
    at(`${name}-on`).checked = is_on;
    at(name).value = this.steps[name];
    at(name).setAttribute("aria-valuetext", shown);
    at(`${name}-shown`).textContent = is_on ? shown : "off";
    at(name).closest(".control").classList.toggle("off", !is_on);
  }

  #count(name) {
    return Math.max(this.state.k, countAt(this.steps[name], this.about.size));
  }

  /** Turn an approximation on or off, and turn off those that cannot be combined with it. */
  #turn(name, is_on) {
    const change = { [name]: null };
    if (is_on) {
      change[name] = name === "epsilon" ? this.steps.epsilon / 100 : this.#count(name);
      if (name === "rank") Object.assign(change, { epsilon: null, budget: null });
      else change.rank = null;
      if (name === "budget") change.algorithm = "tree";
    }
    this.#set(change);
  }

  #choose(algorithm) {
    this.#set(algorithm === "tree" ? { algorithm } : { algorithm, budget: null });
  }

  #set(change) {
    Object.assign(this.state, change);
    for (const name of ["rank", "budget"]) {
      if (this.state[name] !== null) this.state[name] = Math.max(this.state.k, this.state[name]);
    }
    this.show();
    this.changed();
  }
}
