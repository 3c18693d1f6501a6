/** The page: what the person does goes to the store, what changes there goes to the service. */

import * as api from "./api.js";
import { Asker } from "./asking.js";
import { changesBetween, describeChanges } from "./changes.js";
import { ChosenLabels } from "./chosen.js";
import { askForToken, fillHelp, makeClosable } from "./dialogs.js";
import { find, setAttribute, setText } from "./dom.js";
import { ExplanationPanel } from "./explanation.js";
import { LabelMap } from "./label_map.js";
import { LabelSearch } from "./label_search.js";
import { showCurrentModel, showModels } from "./models.js";
import { forgetNames, nameOf, showLanguages } from "./names.js";
import { announce, clearTrouble, showTrouble, startNotices, toast } from "./notices.js";
import { count, counted } from "./numbers.js";
import { copyText, downloadText, fileName, resultOf, withImplied } from "./saving.js";
import { listen, shortcutsFor } from "./shortcuts.js";
import { Store } from "./state.js";
import { SuggestionGrid } from "./suggestions.js";
import { TextPane } from "./text_pane.js";

const TYPING_PAUSE = 250;
const FOLLOWING_PAUSE = 80;
/** By then the service has learned from a document it was given. */
const LEARNING_TIME = 1200;
const RESULT = ["model", "text", "accepted", "rejected"];

const store = new Store(sessionStorage);
const asker = new Asker(store);
const pane = new TextPane(toast);
const grid = new SuggestionGrid(find("grid"));
const chosen = new ChosenLabels();
const panel = new ExplanationPanel();
const search = new LabelSearch({
  name: "search",
  search: (q, signal) => api.findLabels(store.now.model, q, signal),
  stateOf: (label) => store.stateOf(label),
  onTrouble: showTrouble,
});
const map = new LabelMap({
  load: api.graph,
  loadRelated: api.related,
  search: api.findLabels,
  onTrouble: showTrouble,
});

let models = [];
let saving = false;
let said = "";

async function start() {
  startNotices();
  api.setTokenPrompt(askForToken);
  connect();
  showState();
  try {
    ({ models } = await api.listModels());
  } catch (problem) {
    showTrouble(problem, () => location.reload());
    return;
  }
  showModels(models, switchModel);
  if (models.some(({ id }) => id === store.now.model)) asker.ask(0, "start");
  else store.change({ model: models[0]?.id ?? null, accepted: [], rejected: [], explained: null });
  showModel();
  showReviewLink();
}

/** Lead to the review of an audit where there is one; without it nothing is missing here. */
async function showReviewLink() {
  const { total } = await api.reviewState().catch(() => ({ total: 0 }));
  find("to-review").hidden = !total;
}

/** Show which model answers, and in which languages it has names. */
function showModel() {
  showCurrentModel(models, store.now.model);
  const model = models.find(({ id }) => id === store.now.model);
  if (model) showLanguages(model, () => asker.ask(0, "language"));
}

// What the person does

function decide(label, state) {
  if (label === null) return;
  const follow = store.now.explained === label && grid.hasFocus;
  said = `${{ accepted: "Accepted", rejected: "Rejected", open: "Removed" }[state]} ${nameOf(label)}.`;
  announce(said);
  if (state !== "open") grid.drop(label);
  store.decide(label, state);
  if (follow && grid.current) store.change({ explained: grid.current });
}

function toggleExplanation(label) {
  if (label === null) return;
  store.change({ explained: store.now.explained === label ? null : label });
}

function closeExplanation() {
  const focused = panel.hasFocus;
  store.change({ explained: null });
  if (focused) grid.focus();
}

function undo() {
  const what = store.undo();
  said = what ? `Undone: ${what}.` : "Nothing to undo.";
  toast(said);
}

function redo() {
  const what = store.redo();
  said = what ? `Done again: ${what}.` : "Nothing to redo.";
  toast(said);
}

function switchModel(id) {
  store.change({ model: id, accepted: [], rejected: [], explained: null }, `switch to ${id}`);
}

function newDocument() {
  const { text, accepted, rejected } = store.now;
  if (text || accepted.length || rejected.length) {
    store.change({ text: "", accepted: [], rejected: [], explained: null }, "start a new document");
  }
  pane.focus();
}

function save() {
  const { text, accepted, saved } = store.now;
  if (saved) toast(`Already saved as document ${saved.id}.`);
  else if (!text.trim()) toast("There is no text to save yet.");
  else if (!accepted.length) toast("Accept a label first: the model learns from accepted labels.");
  else if (!saving) sendDocument();
}

async function sendDocument() {
  const { model, text, accepted, rejected } = store.now;
  const isSame = () =>
    store.now.text === text && store.now.accepted === accepted && store.now.rejected === rejected;
  saving = true;
  try {
    // Asked anew: what follows by rules from the last decision may not have arrived yet.
    const { known } = await api.suggest(model, { text, accepted, rejected, limit: 1 });
    const all = withImplied(accepted, known);
    const done = await api.saveDocument(model, { text, accepted: all, rejected });
    clearTrouble();
    if (isSame()) store.change({ saved: { id: done.id } });
    toast(`Saved as document ${done.id} with ${counted(all.length, "label")}.`);
    setTimeout(() => asker.ask(0, "learned"), LEARNING_TIME);
  } catch (problem) {
    showTrouble(problem, save);
  } finally {
    saving = false;
  }
}

async function copy() {
  try {
    await copyText(resultJson());
    toast("Copied as JSON.");
  } catch (problem) {
    showTrouble(problem);
  }
}

function download() {
  const name = fileName(store.now.text);
  downloadText(name, resultJson());
  toast(`Downloaded ${name}.`);
}

function resultJson() {
  return `${JSON.stringify(resultOf(store.now, asker.answer), null, 2)}\n`;
}

// What is shown

function showState() {
  const { now } = store;
  pane.show(now.text);
  chosen.show(now, asker.answer.known);
  setAttribute(find("undo"), "aria-disabled", !store.canUndo);
  setAttribute(find("redo"), "aria-disabled", !store.canRedo);
  find("grid").classList.toggle("numbers", now.numbers);
  find("numbers").checked = now.numbers;
  find("keys-on").checked = now.keys;
  find("workspace").classList.toggle("explaining", now.explained !== null);
  grid.markExplained(now.explained);
  setText(find("save-text"), now.saved ? "Saved" : "Save");
  find("save-where").hidden = now.saved !== null;
  find("save").classList.toggle("done", now.saved !== null);
  setText(
    find("saved"),
    now.saved ? `Saved as document ${now.saved.id}; the model learns from it.` : "",
  );
}

function showAnswer({ next, before, cause }) {
  clearTrouble();
  const reacts = ["decision", "undo", "redo"].includes(cause);
  const changes = reacts ? changesBetween(before, next) : new Map();
  const some = next.suggestions.length > 0;
  grid.show(next.suggestions, changes);
  grid.markExplained(store.now.explained);
  chosen.show(store.now, next.known);
  for (const id of ["grid", "legend"]) find(id).hidden = !some;
  find("welcome").hidden = some;
  find("more").hidden = !asker.hasMore;
  find("legend-more").hidden = !next.suggestions.some(
    ({ parts }) => parts.rules || parts["first place"],
  );
  setText(
    find("learned"),
    next.learned ? `learned from ${counted(next.learned, "saved document")}` : "",
  );
  setText(
    find("word-count"),
    next.n_words === null ? "" : `${count(next.n_words)} words known to the model`,
  );
  if (reacts) announce(`${said} ${describeChanges(changes, next.suggestions)}`);
}

function showExplanation(reasons) {
  panel.show(reasons, store.stateOf(reasons.label));
  pane.highlight(reasons.terms ?? []);
  setText(find("marks-label"), nameOf(reasons.label));
  find("marks-legend").hidden = !reasons.terms?.some(({ words }) => words.length);
}

function openOrClosePanel() {
  if (store.now.explained) {
    panel.open(store.now.explained);
    grid.reveal(store.now.explained);
    return;
  }
  asker.stopExplaining();
  panel.close();
  pane.highlight([]);
  find("marks-legend").hidden = true;
}

// Wires

function connect() {
  store.addEventListener("change", ({ detail }) => onChange(detail));
  store.addEventListener("unkept", () => toast("This text is too long to survive a reload."));
  asker.addEventListener("answer", ({ detail }) => showAnswer(detail));
  asker.addEventListener("explanation", ({ detail }) => showExplanation(detail));
  asker.addEventListener("trouble", ({ detail }) => showTrouble(detail.problem, detail.again));
  asker.addEventListener("busy", ({ detail: { busy } }) => {
    find("busy").hidden = !busy;
    setAttribute(find("grid"), "aria-busy", busy);
  });
  openOrClosePanel();
  connectParts();
  connectButtons();
  connectKeys();
}

function onChange({ keys, cause }) {
  showState();
  if (keys.has("model")) {
    forgetNames();
    showModel();
  }
  if (keys.has("text") || keys.has("model")) asker.shorten();
  if (keys.has("explained")) openOrClosePanel();
  const isTyped = cause === "edit" && keys.has("text");
  if (RESULT.some((key) => keys.has(key))) asker.ask(isTyped ? TYPING_PAUSE : 0, cause);
  else if (keys.has("explained")) asker.askExplanation(FOLLOWING_PAUSE);
}

function connectParts() {
  const hear = (part, name, run) => part.addEventListener(name, ({ detail }) => run(detail));
  hear(pane, "write", ({ text }) => store.change({ text }));
  hear(pane, "replace", ({ text, what }) => store.change({ text }, what));
  hear(pane, "leave", () => grid.focus());
  for (const part of [grid, panel])
    hear(part, "decide", ({ label, state }) => decide(label, state));
  for (const part of [grid, chosen]) hear(part, "explain", ({ label }) => toggleExplanation(label));
  hear(grid, "current", ({ label }) => store.now.explained && store.change({ explained: label }));
  hear(chosen, "reopen", ({ label }) => decide(label, "open"));
  hear(search, "choose", ({ label }) => decide(label, "accepted"));
  hear(panel, "point", ({ term }) => pane.point(term));
  hear(panel, "close", closeExplanation);
  hear(panel, "explain", ({ label }) => {
    store.change({ explained: label });
    panel.focus();
  });
}

function connectButtons() {
  const clicks = {
    undo,
    redo,
    save,
    copy,
    download,
    more: () => asker.askForMore(),
    "new-document": newDocument,
    "open-map": openMap,
    "open-help": openHelp,
  };
  for (const [id, run] of Object.entries(clicks)) find(id).addEventListener("click", () => run());
  find("numbers").addEventListener("change", ({ target }) =>
    store.change({ numbers: target.checked }),
  );
  find("keys-on").addEventListener("change", ({ target }) =>
    store.change({ keys: target.checked }),
  );
  for (const id of ["map", "help"]) makeClosable(find(id));
}

function openHelp() {
  find("help").showModal();
}

function openMap() {
  map.open(store.now.model, store.now.accepted);
}

function connectKeys() {
  const shortcuts = shortcutsFor({
    move: (step) => grid.move(step),
    accept: () => decide(grid.current, "accepted"),
    reject: () => decide(grid.current, "rejected"),
    explain: () => toggleExplanation(grid.current),
    undo,
    redo,
    search: () => search.focus(),
    write: () => pane.focus(),
    save,
    map: openMap,
    help: openHelp,
    close: closeExplanation,
  });
  fillHelp(shortcuts);
  listen(shortcuts, () => store.now.keys);
}

start();
