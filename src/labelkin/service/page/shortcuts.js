/** One table of keys: what they do, and what the help says about them. */

import { t } from "./words.js";

/** Return the shortcuts; `actions` holds a function for each. */
export function shortcutsFor(actions) {
  return [
    key(["j", "↓"], ["j"], t("key.next"), () => actions.move(1)),
    key(["k", "↑"], ["k"], t("key.previous"), () => actions.move(-1)),
    key(["a"], ["a"], t("key.accept"), actions.accept),
    key(["r"], ["r"], t("key.reject"), actions.reject),
    key(["e", "Enter"], ["e"], t("key.explain"), actions.explain),
    key(["u", "Ctrl+Z"], ["u"], t("key.undo"), actions.undo),
    key(["Shift+U", "Ctrl+Y"], ["U"], t("key.redo"), actions.redo),
    key(["/"], ["/"], t("key.search"), actions.search),
    key(["t"], ["t"], t("key.text"), actions.write),
    key(["n"], ["n"], t("key.new"), actions.create),
    key(["s"], ["s"], t("key.save"), actions.save),
    key(["m"], ["m"], t("key.map"), actions.map),
    key(["?"], ["?"], t("key.help"), actions.help),
    key(["Esc"], ["Escape"], t("key.close"), actions.close),
  ];
}

/** Run shortcuts on keys pressed outside of fields and dialogs, while `enabled()`. */
export function listen(shortcuts, enabled) {
  const runs = new Map(shortcuts.flatMap(({ keys, run }) => keys.map((name) => [name, run])));
  const withControl = new Map([
    ["z", runs.get("u")],
    ["Z", runs.get("U")],
    ["y", runs.get("U")],
  ]);
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || isTyping(event.target)) return;
    const run = event.ctrlKey || event.metaKey ? withControl.get(event.key) : runs.get(event.key);
    const single = event.key.length === 1 && !event.ctrlKey && !event.metaKey;
    if (!run || (single && !enabled())) return;
    event.preventDefault();
    run();
  });
}

/** One shortcut: how its keys are shown, which they are, what it does. */
export function key(shown, keys, what, run) {
  return { shown, keys, what, run };
}

function isTyping(target) {
  if (document.querySelector("dialog[open]")) return true;
  return target.matches?.("textarea, select, input:not([type=checkbox])");
}
