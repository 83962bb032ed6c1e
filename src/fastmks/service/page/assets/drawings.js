// Draw objects by their form. Text of the data is set as text, never as markup.

const MOST_COMPARED = 600; // letters
const AROUND = 16; // letters shown before the common run

export function element(tag, { className, text, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const count = (number) => number.toLocaleString("en-US");

export function figure(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e7 || size < 1e-4) return number.toExponential(3).replace("e+", "e");
  if (Number.isInteger(number)) return count(number);
  return size >= 1e4 ? count(Math.round(number)) : String(Number(number.toPrecision(5)));
}

/** A figure that fits under a small picture. */
export function short(number) {
  const size = Math.abs(number);
  if (number !== 0 && (size >= 1e5 || size < 1e-3)) return number.toExponential(2).replace("e+", "e");
  return size >= 1e3 ? count(Math.round(number)) : String(Number(number.toPrecision(4)));
}

/** A figure for a bound, which is rounded up. */
export function shortBound(number) {
  if (number <= 0) return short(number);
  const digits = number >= 1e5 || number < 1e-3 ? 3 : 4;
  const unit = 10 ** (Math.floor(Math.log10(number)) - digits + 1);
  return short(Math.ceil(number / unit) * unit);
}

export function duration(seconds) {
  if (seconds < 0.9995e-3) return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  if (seconds < 0.9995) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  return `${Number(seconds.toPrecision(3))} s`;
}

const colours = new Map();

/** Forget colours: those of another theme differ. */
export function forgetColours() {
  colours.clear();
}

/** The colour of a name of the style sheet, as a canvas reads it. */
export function colour(name) {
  if (!colours.has(name)) {
    const probe = element("span");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    colours.set(name, getComputedStyle(probe).color);
    probe.remove();
  }
  return colours.get(name);
}

/** Return an object as an element; letters are compared with those of `query`. */
export function drawing(form, one, query) {
  if (form === "image") return image(one.numbers);
  if (form === "row") return strip(one);
  if (form === "bits") return bits(one);
  return letters(form, one, query);
}

/** An object in words, for screen readers. */
export function described(form, one) {
  if (form === "image") return `image ${one.id ?? "of your own"}`;
  if (form === "row") return `row ${one.id ?? "of your own"} of ${count(one.length)} numbers`;
  return one.id ?? "your own";
}

function image(shades) {
  const side = Math.round(Math.sqrt(shades.length));
  const canvas = element("canvas", { className: "image drawing", "aria-hidden": "true" });
  canvas.width = canvas.height = side;
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(side, side);
  const ink = colour("ink").match(/\d+/g).slice(0, 3).map(Number);
  shades.forEach((shade, i) => pixels.data.set([...ink, shade], 4 * i));
  context.putImageData(pixels, 0, 0);
  return canvas;
}

function strip(one) {
  const canvas = element("canvas", { className: "strip drawing", "aria-hidden": "true" });
  const numbers = one.numbers;
  const shown = numbers.slice(0, 24).map(figure).join(", ");
  canvas.title = one.length > 24 ? `${shown} … (${count(one.length)} numbers)` : shown;
  canvas.width = Math.max(120, numbers.length * 3);
  canvas.height = 40;
  const context = canvas.getContext("2d");
  const high = Math.max(0, ...numbers);
  const low = Math.min(0, ...numbers);
  const scale = 38 / (high - low || 1);
  const width = canvas.width / numbers.length;
  context.fillStyle = colour("muted");
  numbers.forEach((number, i) => {
    const top = 1 + (high - Math.max(0, number)) * scale;
    context.fillRect(i * width, top, Math.max(1, width - 1), Math.max(1, Math.abs(number) * scale));
  });
  return canvas;
}

function bits(one) {
  const canvas = element("canvas", { className: "bits drawing", "aria-hidden": "true" });
  const columns = Math.min(one.length, 128);
  canvas.width = columns;
  canvas.height = Math.ceil(one.length / columns);
  const context = canvas.getContext("2d");
  context.fillStyle = colour("ink");
  one.numbers.forEach((bit, i) => {
    if (bit) context.fillRect(i % columns, Math.floor(i / columns), 1, 1);
  });
  canvas.title = `${count(one.numbers.filter(Boolean).length)} of ${count(one.length)} bits set`;
  return canvas;
}

function letters(form, one, query) {
  const box = element("span", { className: "letters drawing" });
  const run = form === "sequence" && query && query.text !== one.text ? commonRun(query.text, one.text) : null;
  if (run && run.length > 1) {
    const begin = Math.max(0, run.at - AROUND);
    box.append(
      (begin > 0 ? "…" : "") + one.text.slice(begin, run.at),
      element("mark", { text: one.text.slice(run.at, run.at + run.length) }),
      one.text.slice(run.at + run.length),
    );
    box.title = `${run.length} letters in a row match the query`;
  } else {
    box.append(one.text);
  }
  if (form === "sequence") box.append(element("span", { className: "length", text: ` ${count(one.length)}` }));
  return box;
}

/** The longest run of letters that both have: where it begins in the second, and its length. */
export function commonRun(first, second) {
  const a = first.slice(0, MOST_COMPARED);
  const b = second.slice(0, MOST_COMPARED);
  let before = new Uint16Array(b.length + 1);
  let best = { at: 0, length: 0 };
  for (let i = 1; i <= a.length; i++) {
    const now = new Uint16Array(b.length + 1);
    for (let j = 1; j <= b.length; j++) {
      if (a[i - 1] !== b[j - 1]) continue;
      now[j] = before[j - 1] + 1;
      if (now[j] > best.length) best = { at: j - now[j], length: now[j] };
    }
    before = now;
  }
  return best;
}
