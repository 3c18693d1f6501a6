/** Dialogs: closing them, the help, the question for a token. */

import { find, make } from "./dom.js";
import { t } from "./words.js";

/** Close a dialog by its ✗ and by a click beside it. */
export function makeClosable(dialog) {
  dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}

/** List the shortcuts in the help dialog. */
export function fillHelp(shortcuts) {
  const keys = ({ shown }) =>
    shown.flatMap((key, i) => [i ? ` ${t("or")} ` : "", make("kbd", {}, key)]);
  find("shortcut-rows").replaceChildren(
    ...shortcuts.map((shortcut) =>
      make("tr", {}, make("th", { scope: "row" }, keys(shortcut)), make("td", {}, shortcut.what)),
    ),
  );
}

/** Ask the person for a token; resolves to it, or to null when they will not. */
export function askForToken(rejected) {
  const dialog = find("token");
  const value = find("token-value");
  find("token-text").textContent = t(rejected ? "token.wrong" : "token.ask");
  value.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  value.focus();
  return new Promise((resolve) => {
    find("token-cancel").onclick = () => dialog.close("");
    dialog.addEventListener(
      "close",
      () => resolve(dialog.returnValue === "use" ? value.value.trim() : null),
      { once: true },
    );
  });
}
