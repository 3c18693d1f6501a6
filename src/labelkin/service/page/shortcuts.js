/** One table of keys: what they do, and what the help says about them. */

/** Return the shortcuts; `actions` holds a function for each. */
export function shortcutsFor(actions) {
  return [
    key(["j", "↓"], ["j"], "next label", () => actions.move(1)),
    key(["k", "↑"], ["k"], "previous label", () => actions.move(-1)),
    key(["a"], ["a"], "accept the label", actions.accept),
    key(["r"], ["r"], "reject the label", actions.reject),
    key(["e", "Enter"], ["e"], "explain the label, or close its explanation", actions.explain),
    key(["u", "Ctrl+Z"], ["u"], "undo", actions.undo),
    key(["Shift+U", "Ctrl+Y"], ["U"], "redo", actions.redo),
    key(["/"], ["/"], "search and add any label", actions.search),
    key(["t"], ["t"], "go to the text", actions.write),
    key(["s"], ["s"], "save to the journal", actions.save),
    key(["m"], ["m"], "open the label map", actions.map),
    key(["?"], ["?"], "this help", actions.help),
    key(["Esc"], ["Escape"], "leave the text; close the explanation or a dialog", actions.close),
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
