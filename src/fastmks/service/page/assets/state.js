// The query and settings, kept in the address so that a link shows the same again.

export const NUMBERS = ["k", "epsilon", "rank", "budget"];

/** Return the query and settings of the address; missing ones are null. */
export function readState(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = {
    id: given.get("id"),
    object: parsed(given.get("object")),
    kernels: given.has("kernels") ? given.getAll("kernels") : null,
    algorithm: given.get("algorithm"),
  };
  for (const name of NUMBERS) {
    const number = given.has(name) ? Number(given.get(name)) : NaN;
    state[name] = Number.isFinite(number) && number >= 0 ? number : null;
  }
  return state;
}

/** Return the query and settings as the fragment of an address. */
export function writeState(state) {
  const given = new URLSearchParams();
  if (state.object !== null) given.set("object", JSON.stringify(state.object));
  else if (state.id !== null) given.set("id", state.id);
  for (const kernel of state.kernels) given.append("kernels", kernel);
  given.set("algorithm", state.algorithm);
  for (const name of NUMBERS) if (state[name] !== null) given.set(name, state[name]);
  return "#" + given.toString();
}

function parsed(text) {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Sliders for counts are logarithmic: step 0 to 100 onto whole numbers from 1 to most. */
export function countAt(step, most) {
  return Math.max(1, Math.round(most ** (step / 100)));
}

/** The step whose count is nearest. */
export function stepOf(count, most) {
  return most > 1 ? Math.round((100 * Math.log(Math.max(1, count))) / Math.log(most)) : 100;
}
