/** Says what happened: aloud, in passing, or as a trouble that stays. */

import { find, setText } from "./dom.js";
import { t } from "./words.js";

const TOAST = 4500;
let timer = 0;
let retry = null;

/** Read out a change that can be seen anyway. */
export function announce(text) {
  setText(find("changes"), text);
}

/** Show a short message that goes away by itself; screen readers get it too. */
export function toast(text) {
  const place = find("toast");
  clearTimeout(timer);
  place.textContent = text;
  place.classList.add("shown");
  timer = setTimeout(() => {
    place.classList.remove("shown");
    place.textContent = "";
  }, TOAST);
}

/**
 * Show a problem until it is solved or dismissed; `again` is what its button does, which says
 * "Try again" or `way`. What cannot help is not offered.
 */
export function showTrouble(problem, again = null, way = t("trouble.again")) {
  retry = problem.isFinal ? null : again;
  setText(find("trouble-text"), problem.message);
  setText(find("trouble-retry"), way);
  find("trouble-retry").hidden = !retry;
  find("trouble").hidden = false;
}

/** Take the problem away. */
export function clearTrouble() {
  find("trouble").hidden = true;
}

/** Make the buttons of the problem work. */
export function startNotices() {
  find("trouble-close").addEventListener("click", clearTrouble);
  find("trouble-retry").addEventListener("click", () => {
    clearTrouble();
    retry?.();
  });
}
