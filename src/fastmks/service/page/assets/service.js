// Requests to the service. Every failure becomes an error with a message.

const KEY = "fastmks-token";

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

/** Return the answer to a request; an abort stays an AbortError. */
export async function ask(path, { body, signal } = {}) {
  const headers = {};
  const token = sessionStorage.getItem(KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The service does not answer. Is it still running?", 0);
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw new Refused(wordsOf(answer, response.status), response.status);
}

function wordsOf(answer, status) {
  if (status === 401) return "This service needs a token.";
  if (status === 429 || status === 503) return "The service is busy. Try again in a moment.";
  const words = answer?.error?.message;
  return typeof words === "string" ? words : `The service failed (status ${status}).`;
}
