/** The page's words in the person's language: a JSON file per language, all with the same keys. */

/** What each language calls itself. */
export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fi: "Suomi", sv: "Svenska" };
const KEPT = "labelkin.interface";

/** The language of the page: chosen by the menu, else by the browser. */
export const locale = usual();
const words = await load(locale);
const plurals = new Intl.PluralRules(locale);
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0, useGrouping: "always" });

/** The words of a key, with `{name}` filled in; `n` decides between one and many. */
export function t(key, values = {}) {
  return fill(key, values, String).join("");
}

/** The same as a list of texts and elements, where some of the values are elements. */
export function tParts(key, values) {
  return fill(key, values, (value) => value);
}

/** Put the words of the language wherever the page's markup names a key. */
export function translate(root = document) {
  document.documentElement.lang = locale;
  for (const element of root.querySelectorAll("[data-t]")) {
    element.textContent = t(element.dataset.t);
  }
  for (const element of root.querySelectorAll("[data-t-attributes]")) {
    for (const pair of element.dataset.tAttributes.split(" ")) {
      const [name, key] = pair.split("=");
      element.setAttribute(name, t(key));
    }
  }
}

/** Mark the page as ready: its words are there, and what is pressed is heard. */
export function markReady() {
  document.documentElement.dataset.ready = "";
}

/** Fill the menu of languages; another choice shows the page anew, and nothing is lost. */
export function offerLanguages(menu) {
  for (const [code, name] of Object.entries(LANGUAGES)) {
    const option = document.createElement("option");
    option.value = code;
    option.lang = code;
    option.textContent = name;
    menu.append(option);
  }
  menu.value = locale;
  menu.addEventListener("change", () => {
    localStorage.setItem(KEPT, menu.value);
    location.reload();
  });
}

/** An example text in a language, English where there is none. */
export async function exampleIn(language) {
  const found = language in LANGUAGES ? await load(language) : null;
  return found?.["example.text"] ?? (await load("en"))["example.text"];
}

function usual() {
  const kept = localStorage.getItem(KEPT);
  if (kept in LANGUAGES) return kept;
  const codes = navigator.languages.map((tag) => tag.split("-")[0].toLowerCase());
  return codes.find((code) => code in LANGUAGES) ?? "en";
}

async function load(language) {
  try {
    const answer = await fetch(new URL(`words/${language}.json`, import.meta.url));
    return answer.ok ? await answer.json() : {};
  } catch {
    return {}; // without an answer the page has other troubles, and says so
  }
}

function fill(key, values, asIs) {
  const found = words[key] ?? key;
  const text = typeof found === "string" ? found : (found[plurals.select(values.n)] ?? found.other);
  return text.split(/\{(\w+)\}/).map((piece, i) => {
    if (i % 2 === 0) return piece;
    const value = values[piece];
    return typeof value === "number" ? whole.format(value) : asIs(value);
  });
}
