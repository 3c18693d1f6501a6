/** What people call the labels, in the language that is shown; what is sent stays the label. */

import { find, make } from "./dom.js";
import { locale } from "./words.js";

const KEPT = "labelkin.language";
const names = new Map();

/** The language that the person has chosen for names, else that of the page. */
export const language = () => localStorage.getItem(KEPT) ?? locale;

/** Keep the names that come with an answer. */
export function rememberNames(answer) {
  for (const [label, name] of Object.entries(answer?.names ?? {})) names.set(label, name);
  return answer;
}

/** Forget all names: those of another model, or in another language, are to come. */
export const forgetNames = () => names.clear();

/** Label → its name, which is the label itself where no other is known. */
export const nameOf = (label) => names.get(label) ?? label;

/** What a label is beside its name, for a title; null where it is nothing else. */
export const titleOf = (label) => (nameOf(label) === label ? null : label);

/** Offer the languages of a model's names; `onChoose()` when the person takes another. */
export function showLanguages({ languages = [], language: usual = null }, onChoose) {
  const choice = find("language");
  find("language-part").hidden = languages.length < 2;
  choice.replaceChildren(...languages.map((tag) => make("option", { value: tag }, ownName(tag))));
  choice.value = languages.includes(language()) ? language() : usual;
  choice.onchange = () => {
    localStorage.setItem(KEPT, choice.value);
    forgetNames();
    onChoose();
  };
}

/** What a language calls itself. */
function ownName(tag) {
  try {
    return new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
