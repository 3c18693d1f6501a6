/** The page: what the person does goes to the store, what changes there goes to the service. */

import "./frame.js";
import * as api from "./api.js";
import { Asker } from "./asking.js";
import { changesBetween, describeChanges } from "./changes.js";
import { ChosenLabels } from "./chosen.js";
import { askForToken, fillHelp, makeClosable } from "./dialogs.js";
import { find, setAttribute, setText } from "./dom.js";
import { ExplanationPanel } from "./explanation.js";
import { Fold } from "./folding.js";
import { showKnownWords } from "./known_words.js";
import { LabelMap } from "./label_map.js";
import { LabelSearch } from "./label_search.js";
import { showCurrentModel, showModels } from "./models.js";
import { forgetNames, nameOf, showLanguages } from "./names.js";
import { announce, clearTrouble, showTrouble, startNotices, toast } from "./notices.js";
import { copyText, downloadText, fileName, withImplied, written } from "./saving.js";
import { listen, shortcutsFor } from "./shortcuts.js";
import { Store } from "./state.js";
import { SuggestionGrid } from "./suggestions.js";
import { TextPane } from "./text_pane.js";
import { fillWelcome } from "./welcome.js";
import { markReady, offerLanguages, t, translate } from "./words.js";

const TYPING_PAUSE = 250;
const FOLLOWING_PAUSE = 80;
/** By then the service has learned from a document it was given. */
const LEARNING_TIME = 1200;
const RESULT = ["model", "text", "accepted", "rejected"];
const EMPTY = { accepted: [], rejected: [], added: [], explained: null, record: null };

translate();

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
  mayAdd: (q) => q.length <= limits.label_characters && store.stateOf(q) !== "accepted",
});
const fold = new Fold();
const map = new LabelMap({
  load: api.graph,
  loadRelated: api.related,
  search: api.findLabels,
  onTrouble: showTrouble,
});

let models = [];
let limits = { text_characters: Infinity, label_characters: Infinity };
let saving = false;
let sureOfNone = false; // a document without labels is saved when the person asks twice
let said = "";

async function start() {
  startNotices();
  offerLanguages(find("interface"));
  fillWelcome(
    () => modelNow()?.text_language,
    (text) => replaceText(text, t("step.example")),
  );
  api.setTokenPrompt(askForToken);
  connect();
  showState();
  markReady();
  try {
    ({ models, limits } = await api.listModels());
  } catch (problem) {
    showTrouble(problem, () => location.reload());
    return;
  }
  pane.limit = limits.text_characters;
  showModels(models, switchModel);
  if (models.some(({ id }) => id === store.now.model)) asker.ask(0, "start");
  else store.change({ model: models[0]?.id ?? null, ...EMPTY });
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
  const model = modelNow();
  if (model) showLanguages(model, () => asker.ask(0, "language"));
}

function modelNow() {
  return models.find(({ id }) => id === store.now.model);
}

// What the person does

function decide(label, state) {
  if (label === null) return;
  const follow = store.now.explained === label && grid.hasFocus;
  said = t(`said.${state}`, { label: nameOf(label) });
  announce(said);
  if (state !== "open") grid.drop(label);
  store.decide(label, state);
  if (follow && grid.current) store.change({ explained: grid.current });
}

function addLabel(label) {
  store.add(label);
  toast(t("said.added", { label }));
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
  said = what ? t("said.undone", { what }) : t("said.nothing-to-undo");
  toast(said);
}

function redo() {
  const what = store.redo();
  said = what ? t("said.redone", { what }) : t("said.nothing-to-redo");
  toast(said);
}

function switchModel(id) {
  store.change({ model: id, ...EMPTY }, t("step.model", { model: id }));
}

function newDocument() {
  search.clear();
  const { text, accepted, rejected, added } = store.now;
  if (text || accepted.length || rejected.length || added.length) {
    store.change({ text: "", ...EMPTY }, t("step.new"));
  }
  pane.focus();
}

/** Take a typed or pasted text; one that replaces a saved text is a new record without labels. */
function writeText(text) {
  const { record } = store.now;
  if (record && isOther(record.text, text)) replaceText(text, t("step.new"));
  else store.change({ text });
}

/** Take a whole new text, from a file or the clipboard. */
function replaceText(text, what) {
  const { record, accepted, added } = store.now;
  store.change(record ? { text, ...EMPTY } : { text }, what);
  if (record && accepted.length + added.length) toast(t("record.new"));
}

/** Whether a text keeps less than half of a saved one, at its beginning and end. */
function isOther(saved, text) {
  const most = Math.min(saved.length, text.length);
  let begin = 0;
  while (begin < most && saved[begin] === text[begin]) begin += 1;
  let end = 0;
  while (end < most - begin && saved.at(-1 - end) === text.at(-1 - end)) end += 1;
  return begin + end < saved.length / 2;
}

/** Offer the beginning of a text that is too long for the service. */
function offerBeginning({ n, most, take }) {
  const problem = new Error(t("text.too-long", { n, most }));
  showTrouble(problem, take, t("text.take-beginning", { n: most }));
}

function save() {
  const { text, accepted, added, saved } = store.now;
  if (saved) toast(t("save.already", { id: String(saved.id) }));
  else if (!text.trim()) toast(t("save.no-text"));
  else if (!accepted.length && !added.length && !sureOfNone) {
    sureOfNone = true;
    showState();
    toast(t("save.none-ask"));
  } else if (!saving) sendDocument();
}

async function sendDocument() {
  const before = store.now;
  const { model, text, accepted, rejected, added, record } = before;
  const isSame = () => [...RESULT, "added"].every((key) => store.now[key] === before[key]);
  saving = true;
  try {
    // Asked anew: what follows by rules from the last decision may not have arrived yet.
    const { known } = await api.suggest(model, { text, accepted, rejected, limit: 1 });
    const all = [...withImplied(accepted, known), ...added];
    const done = await api.saveDocument(model, {
      text,
      accepted: all,
      rejected,
      record: record?.id ?? null,
    });
    clearTrouble();
    const kept = { record: { id: done.record, text } };
    if (isSame()) store.change({ saved: { id: done.id }, ...kept });
    else if (!isOther(text, store.now.text)) store.change(kept);
    toast(t("save.done", { id: String(done.id), n: all.length }));
    setTimeout(() => asker.ask(0, "learned"), LEARNING_TIME);
  } catch (problem) {
    showTrouble(problem, save);
  } finally {
    saving = false;
  }
}

async function copy() {
  try {
    await copyText(written(store.now.format, store.now, asker.answer));
    toast(t(`copied.${store.now.format}`));
  } catch (problem) {
    showTrouble(problem);
  }
}

function download() {
  const { text, format } = store.now;
  const name = fileName(text, format);
  downloadText(name, written(format, store.now, asker.answer), format);
  toast(t("downloaded", { name }));
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
  find("format").value = now.format;
  find("workspace").classList.toggle("explaining", now.explained !== null);
  grid.markExplained(now.explained);
  const isNone = sureOfNone && !now.saved;
  setText(find("save-text"), t(now.saved ? "save.saved" : isNone ? "save.none" : "save"));
  find("save-where").hidden = now.saved !== null || isNone;
  find("save").classList.toggle("done", now.saved !== null);
  const note = now.saved ? t("save.note", { id: String(now.saved.id) }) : "";
  setText(find("saved"), isNone ? t("save.none-ask") : note);
}

function showAnswer({ next, before, cause }) {
  clearTrouble();
  const reacts = ["decision", "undo", "redo"].includes(cause);
  const changes = reacts ? changesBetween(before, next) : new Map();
  showSuggestions(next, changes);
  chosen.show(store.now, next.known);
  find("legend-more").hidden = !next.suggestions.some(({ parts }) => parts.rules);
  setText(find("learned"), next.learned ? t("learned", { n: next.learned }) : "");
  if (reacts) announce(`${said} ${describeChanges(changes, next.suggestions)}`);
}

/** Show the suggestions that are not folded away. */
function showSuggestions(answer, changes = new Map()) {
  const { text, accepted } = store.now;
  const isBlind = showKnownWords(text, answer.n_words) && !accepted.length;
  const shown = fold.shown(answer, isBlind, asker.hasMore);
  grid.show(shown, changes);
  grid.markExplained(store.now.explained);
  for (const id of ["grid", "legend"]) find(id).hidden = shown.length === 0;
  find("welcome").hidden = answer.suggestions.length > 0 || text.trim() !== "";
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
  store.addEventListener("unkept", () => toast(t("text.unkept")));
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
  if ([...RESULT, "added"].some((key) => keys.has(key))) sureOfNone = false;
  showState();
  if (keys.has("model")) {
    forgetNames();
    showModel();
  }
  if (keys.has("text") || keys.has("model")) {
    asker.shorten();
    fold.close();
  }
  if (keys.has("explained")) openOrClosePanel();
  const isTyped = cause === "edit" && keys.has("text");
  if (RESULT.some((key) => keys.has(key))) asker.ask(isTyped ? TYPING_PAUSE : 0, cause);
  else if (keys.has("explained")) asker.askExplanation(FOLLOWING_PAUSE);
}

function connectParts() {
  const hear = (part, name, run) => part.addEventListener(name, ({ detail }) => run(detail));
  hear(pane, "write", ({ text }) => writeText(text));
  hear(pane, "replace", ({ text, what }) => replaceText(text, what));
  hear(pane, "leave", () => grid.focus());
  hear(pane, "long", offerBeginning);
  hear(fold, "change", () => showSuggestions(asker.answer));
  for (const part of [grid, panel])
    hear(part, "decide", ({ label, state }) => decide(label, state));
  for (const part of [grid, chosen]) hear(part, "explain", ({ label }) => toggleExplanation(label));
  hear(grid, "current", ({ label }) => store.now.explained && store.change({ explained: label }));
  hear(chosen, "reopen", ({ label }) => decide(label, "open"));
  hear(search, "choose", ({ label }) => decide(label, "accepted"));
  hear(search, "add", ({ label }) => addLabel(label));
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
  find("format").addEventListener("change", ({ target }) => store.change({ format: target.value }));
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
    create: newDocument,
    save,
    map: openMap,
    help: openHelp,
    close: closeExplanation,
  });
  fillHelp(shortcuts);
  listen(shortcuts, () => store.now.keys);
}

start();
