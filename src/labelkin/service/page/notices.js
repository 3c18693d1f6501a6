/** Says what happened: aloud, in passing, or as a trouble that stays. */

import { find, setText } from "./dom.js";

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

/** Show a problem until it is solved or dismissed; `again` is what "Try again" does. */
export function showTrouble(problem, again = null) {
  retry = again;
  setText(find("trouble-text"), problem.message);
  find("trouble-retry").hidden = !again;
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
