/** The routes of the service as its /openapi.json describes them, to read and to try. */

import "./frame.js";
import { askForToken } from "./dialogs.js";
import { find, make, setText } from "./dom.js";
import { showTrouble, startNotices } from "./notices.js";
import { markReady, translate } from "./words.js";

const ROOT = new URL("../", import.meta.url);
const TOKEN = "labelkin.token";
/** Schemas within schemas are shown so deep. */
const DEEPEST = 6;

let description = null;

async function start() {
  translate();
  document.documentElement.lang = "en"; // as the service's own descriptions are
  startNotices();
  try {
    description = await (await fetch(new URL("openapi.json", ROOT))).json();
  } catch {
    find("waiting").remove();
    showTrouble(new Error("The service does not answer."), () => location.reload());
    return;
  }
  setText(find("version"), `${description.info.title} ${description.info.version}`);
  setText(find("about"), description.info.description ?? "");
  find("waiting").remove();
  find("routes").append(...groupsOf(description).map(([tag, routes]) => groupOf(tag, routes)));
  openLinked();
  markReady();
}

/** Tag → its routes, both in the order of the description. */
function groupsOf({ paths }) {
  const groups = new Map();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags?.[0] ?? "service";
      groups.set(tag, [...(groups.get(tag) ?? []), { path, method, operation }]);
    }
  }
  return [...groups];
}

function groupOf(tag, routes) {
  return make("section", { class: "card" }, make("h2", {}, tag), routes.map(routeOf));
}

function routeOf({ path, method, operation }) {
  const { parameters = [], requestBody, responses } = operation;
  const [text, ...rest] = (operation.description ?? operation.summary ?? "").split("\n");
  const more = rest.join(" ").trim();
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const route = make(
    "details",
    { class: "route", id: `${method}-${path.replace(/\W+/g, "-")}` },
    make(
      "summary",
      {},
      make("span", { class: `method ${method}` }, method.toUpperCase()),
      make("code", {}, path),
      make("span", { class: "quiet" }, text),
    ),
    more ? make("p", {}, more) : null,
    answersOf(responses),
    tryOf({ path, method, parameters, type, schema: content?.schema }),
  );
  route.addEventListener(
    "toggle",
    () => route.open && history.replaceState(null, "", `#${route.id}`),
  );
  return route;
}

/** What a route answers: a row per status, with the shape of what is returned. */
function answersOf(responses) {
  const rows = Object.entries(responses).map(([status, { description: text, content }]) => {
    const schema = content?.["application/json"]?.schema;
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, status),
      make("td", {}, text),
      make("td", {}, schema ? make("pre", {}, pretty(exampleOf(schema))) : ""),
    );
  });
  return make(
    "details",
    { class: "answers-of" },
    make("summary", {}, "What it answers"),
    make(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Answers" },
      make("table", { class: "plain-table" }, make("tbody", {}, rows)),
    ),
  );
}

/** A form that asks the service. */
function tryOf({ path, method, parameters, type, schema }) {
  const fields = parameters.map((parameter) => ({ parameter, input: inputOf(parameter) }));
  const body = schema
    ? make("textarea", { rows: 8, spellcheck: "false", "aria-label": `Body, ${type}` })
    : null;
  if (body) body.value = isForm(type) ? formExample(schema) : pretty(exampleOf(schema));
  const answer = make("pre", { class: "answer", tabindex: 0, "aria-live": "polite", hidden: true });
  const ask = async (event) => {
    event.preventDefault();
    answer.hidden = false;
    answer.textContent = "…";
    answer.textContent = await asked({ path, method, fields, type, body: body?.value });
  };
  return make(
    "form",
    { class: "try", onsubmit: ask },
    fields.map(({ parameter, input }) =>
      make(
        "label",
        {},
        make("span", {}, `${parameter.name}${parameter.required ? " *" : ""}`),
        input,
      ),
    ),
    body ? make("label", { class: "body" }, make("span", {}, type), body) : null,
    make("div", { class: "actions" }, make("button", { type: "submit", class: "primary" }, "Ask")),
    answer,
  );
}

function inputOf({ required, schema = {} }) {
  const input = make("input", { type: "text", autocomplete: "off", required });
  if (schema.default !== undefined && schema.default !== null) input.placeholder = schema.default;
  return input;
}

async function asked({ path, method, fields, type, body }) {
  let filled = path.slice(1);
  const query = new URLSearchParams();
  for (const { parameter, input } of fields) {
    if (parameter.in === "path") {
      filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    } else if (parameter.in === "query" && input.value !== "") {
      query.set(parameter.name, input.value);
    }
  }
  const url = new URL(filled, ROOT);
  url.search = query;
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    if (body !== undefined) headers["Content-Type"] = type;
    let answer;
    try {
      answer = await fetch(url, { method: method.toUpperCase(), headers, body });
    } catch {
      return "The service does not answer.";
    }
    const given = answer.status === 401 ? await askForToken(token !== null) : null;
    if (given) sessionStorage.setItem(TOKEN, given);
    else return `${answer.status} ${answer.statusText}\n\n${readable(await answer.text())}`;
  }
}

/** A value that fits a schema, to begin with. */
function exampleOf(schema, depth = 0) {
  const found = schema.$ref ? resolve(schema.$ref) : schema;
  if (found.example !== undefined) return found.example;
  if (found.default !== undefined) return found.default;
  if (found.enum) return found.enum[0];
  if (found.const !== undefined) return found.const;
  const choice = found.anyOf ?? found.oneOf ?? found.allOf;
  if (choice?.some(({ type }) => type === "null")) return null;
  if (choice) return exampleOf(choice[0], depth);
  if (depth > DEEPEST) return null;
  if (found.properties) {
    const values = Object.entries(found.properties).map(([name, inner]) => [
      name,
      exampleOf(inner, depth + 1),
    ]);
    return Object.fromEntries(values);
  }
  if (found.type === "array") return found.items ? [exampleOf(found.items, depth + 1)] : [];
  return (
    { string: "text", integer: 1, number: 0.5, boolean: false, object: {} }[found.type] ?? null
  );
}

function resolve(reference) {
  return reference
    .slice(2)
    .split("/")
    .reduce((place, name) => place[name], description);
}

function isForm(type) {
  return type === "application/x-www-form-urlencoded";
}

function formExample(schema) {
  const values = Object.entries(exampleOf(schema) ?? {}).filter(([, value]) => value !== null);
  return new URLSearchParams(values).toString();
}

function readable(text) {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

function pretty(value) {
  return JSON.stringify(value, null, 2);
}

function openLinked() {
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(linked instanceof HTMLDetailsElement)) return;
  linked.open = true;
  linked.scrollIntoView();
}

start();
