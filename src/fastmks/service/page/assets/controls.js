// The sliders and choices: what they say of the state, and what they make of it.

import { count, element } from "./drawings.js";
import { countAt, stepOf } from "./state.js";

const HINTS = {
  tree: "Walks a cover tree and leaves out subtrees that cannot hold a match. Built when first asked for, which takes long where objects are many.",
  filter: "Bounds every value cheaply and evaluates what the bounds leave.",
  auto: "The index chooses by what it has measured.",
  scan: "Evaluates every object.",
};
/** Those that the page offers, in the order of its list. */
export const ALGORITHMS = Object.keys(HINTS);
const APPROXIMATE = ["epsilon", "rank", "budget"];
const at = (id) => document.getElementById(id);

export class Controls {
  /** `changed` is called when anything has. The state is changed in place. */
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

  /** Make the sliders say what the state says. */
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

  /** Turn an approximation on or off, and off what does not go with it. */
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
