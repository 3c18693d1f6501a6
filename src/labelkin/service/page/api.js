/** Asks the service. Errors arrive as `Problem`, with a text that can be shown. */

import { language, rememberNames } from "./names.js";
import { t } from "./words.js";

const ROOT = new URL("../api/", import.meta.url);
const TOKEN = "labelkin.token";

/** What went wrong, in the service's own words where it gave any. */
export class Problem extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.name = "Problem";
    this.status = status;
    this.title = title;
  }

  /** Whether asking the same again is of no use. */
  get isFinal() {
    return this.status >= 400 && this.status < 500 && ![401, 408, 429].includes(this.status);
  }
}

let askPerson = async () => null;
let asking = null;

/** Say who asks the person for a token: `ask(rejected)` resolves to a token, or null. */
export function setTokenPrompt(ask) {
  askPerson = ask;
}

export const listModels = () => request("models");

export const suggest = (model, body, signal) =>
  request(path(model, "suggest"), { body: named(body), signal });

export const explain = (model, body, signal) =>
  request(path(model, "explain"), { body: named(body), signal });

export const saveDocument = (model, body) => request(path(model, "documents"), { body });

export const findLabels = (model, q, signal) =>
  request(path(model, "labels"), { query: named({ q, limit: 20 }), signal });

export const related = (model, label, signal) =>
  request(path(model, "related"), { query: named({ label, limit: 10 }), signal });

/** The strongest edges of all labels; or those of one, and of its neighbours with each other. */
export const graph = (model, label = null, signal) =>
  request(path(model, "graph"), {
    query: named(
      label === null
        ? { attractions: 20, repulsions: 10 }
        : { attractions: 12, repulsions: 4, label },
    ),
    signal,
  });

export const reviewState = () => request("review");

export const reviewIssue = (number, signal) => request(`review/issues/${number}`, { signal });

export const answerIssue = (number, answer) =>
  request("review/answers", { body: { number, answer } });

/** What is asked, with the language that names are wanted in. */
function named(asked) {
  return language() ? { ...asked, language: language() } : asked;
}

function path(model, route) {
  return `models/${encodeURIComponent(model)}/${route}`;
}

async function request(route, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const answer = await send(route, options, token);
    if (answer.ok) return rememberNames(await answer.json());
    const problem = await readProblem(answer);
    if (answer.status !== 401 || !(await renewToken(token))) throw problem;
  }
}

async function send(route, { query, body, signal }, token) {
  const url = new URL(route, ROOT);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  try {
    return await fetch(url, {
      method: body ? "POST" : "GET",
      headers,
      body: body && JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "No answer", t("trouble.offline"));
  }
}

async function readProblem(answer) {
  const given = await answer.json().catch(() => ({}));
  const detail = typeof given.detail === "string" ? given.detail : "";
  return new Problem(answer.status, given.title ?? `Error ${answer.status}`, detail);
}

/** Ask for a token once, however many requests wait for it; true when there is a new one. */
async function renewToken(rejected) {
  if (sessionStorage.getItem(TOKEN) !== rejected) return true;
  asking ??= askPerson(rejected !== null).finally(() => {
    asking = null;
  });
  const token = await asking;
  if (token) sessionStorage.setItem(TOKEN, token);
  return Boolean(token);
}
