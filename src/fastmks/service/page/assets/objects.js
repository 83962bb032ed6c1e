// The objects to pick a query from: a page of them at a time, by mouse or by keyboard.

import { count, described, drawing, element } from "./drawings.js";
import { ask } from "./service.js";

const N_SHOWN = { image: 48, other: 40 };

export class Objects {
  /** `pick` is called with the chosen id, `fail` with the error. */
  constructor(about, { pick, fail }) {
    this.about = about;
    this.pick = pick;
    this.fail = fail;
    this.begin = 0;
    this.list = document.getElementById("objects");
    this.nShown = N_SHOWN[about.form] ?? N_SHOWN.other;
    this.list.classList.toggle("wide", about.form !== "image");
    this.list.onkeydown = (event) => this.#press(event);
    document.getElementById("earlier").onclick = () => this.show(this.begin - this.nShown);
    document.getElementById("later").onclick = () => this.show(this.begin + this.nShown);
  }

  /** Show the objects from a position on. */
  async show(begin, { focus } = {}) {
    const last = Math.max(0, this.about.size - 1);
    const from = Math.min(Math.max(0, begin), last - (last % this.nShown));
    let found;
    try {
      found = await ask(`page/objects?from=${from}&n=${this.nShown}`);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.begin = from;
    this.list.replaceChildren(...found.objects.map((one) => this.#option(one)));
    this.select(this.selected);
    const end = from + found.objects.length;
    document.getElementById("range").textContent = `${count(from + 1)}–${count(end)}`;
    document.getElementById("earlier").disabled = from === 0;
    document.getElementById("later").disabled = end >= this.about.size;
    if (focus !== undefined) this.#focus(focus === "last" ? found.objects.length - 1 : focus);
  }

  /** Mark the object that is the query. */
  select(id) {
    this.selected = id;
    let active = null;
    for (const option of this.list.children) {
      const is_it = option.dataset.id === id;
      option.setAttribute("aria-selected", String(is_it));
      option.tabIndex = -1;
      if (is_it) active = option;
    }
    active ??= this.list.firstElementChild;
    if (active) active.tabIndex = 0;
  }

  #option(one) {
    const option = element("div", { className: "option", role: "option", "aria-label": described(this.about.form, one) });
    option.dataset.id = one.id;
    option.title = one.id;
    if (this.about.form !== "image") option.append(element("span", { className: "muted", text: one.id }));
    option.append(drawing(this.about.form, one));
    option.addEventListener("click", () => this.pick(one.id));
    return option;
  }

  #press(event) {
    const options = [...this.list.children];
    const at = options.indexOf(document.activeElement);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const across = options.filter((one) => one.offsetTop === options[0].offsetTop).length;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across };
    if (event.key === "Enter" || event.key === " ") this.pick(options[at].dataset.id);
    else if (event.key === "Home") this.#focus(0);
    else if (event.key === "End") this.#focus(options.length - 1);
    else if (event.key === "PageDown") this.#turn(1, at);
    else if (event.key === "PageUp") this.#turn(-1, at);
    else if (event.key in steps) this.#step(at, steps[event.key], options.length);
    else return;
    event.preventDefault();
  }

  #step(at, step, n_options) {
    const next = at + step;
    if (next < 0) this.#turn(-1, "last");
    else if (next >= n_options) this.#turn(1, 0);
    else this.#focus(next);
  }

  #turn(by, focus) {
    const begin = this.begin + by * this.nShown;
    if (begin >= 0 && begin < this.about.size) this.show(begin, { focus });
  }

  #focus(at) {
    const options = [...this.list.children];
    const option = options[Math.min(at, options.length - 1)];
    for (const one of options) one.tabIndex = -1;
    option.tabIndex = 0;
    option.focus();
  }
}
