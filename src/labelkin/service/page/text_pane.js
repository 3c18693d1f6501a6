/** The document: writing, dropping and opening a text, and its words marked. */

import { find, make } from "./dom.js";

const MOST_BYTES = 4_000_000;

/** Sends "write" {text} while typing, "replace" {text, what} for a whole new text, "leave". */
export class TextPane extends EventTarget {
  #area = find("text");
  #marks = find("marks");
  #paper = find("paper");
  #file = find("file");
  #highlights = [];

  constructor(notify) {
    super();
    this.notify = notify;
    this.#area.addEventListener("input", () => {
      this.#paint();
      this.#send("write", { text: this.#area.value });
    });
    this.#area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#send("leave", {});
    });
    find("open-file").addEventListener("click", () => this.#file.click());
    this.#file.addEventListener("change", () => this.#takeFiles(this.#file.files));
    this.#listenForDrops(find("workspace"));
  }

  /** Show a text that did not come from typing. */
  show(text) {
    if (this.#area.value === text) return;
    this.#area.value = text;
    this.#paint();
  }

  focus() {
    this.#area.focus();
  }

  /** Mark words: `[{words, log_odds}]`, as the explanation gives them. */
  highlight(terms) {
    const most = Math.max(...terms.map((term) => Math.abs(term.log_odds)));
    this.#highlights = terms
      .map((term) => ({ ...term, strength: strengthOf(Math.abs(term.log_odds) / most) }))
      .filter(({ strength }) => strength);
    this.#paint();
  }

  /** Make the marks of one term stand out, or of none. */
  point(term = null) {
    for (const mark of this.#marks.children) {
      mark.classList.toggle("pointed", term !== null && mark.dataset.term === term);
    }
  }

  #paint() {
    const text = this.#area.value;
    // The trailing blank keeps a last empty line as high as the textarea has it.
    this.#marks.replaceChildren(...marked(text, this.#highlights), "\u200b");
  }

  #listenForDrops(place) {
    place.addEventListener("dragover", (event) => {
      event.preventDefault();
      this.#paper.classList.add("dropping");
    });
    place.addEventListener("dragleave", (event) => {
      if (!place.contains(event.relatedTarget)) this.#paper.classList.remove("dropping");
    });
    place.addEventListener("drop", (event) => {
      event.preventDefault();
      this.#paper.classList.remove("dropping");
      this.#takeDrop(event.dataTransfer);
    });
  }

  #takeDrop(data) {
    if (data.files.length) this.#takeFiles(data.files);
    else if (data.getData("text/plain")) {
      this.#send("replace", { text: data.getData("text/plain"), what: "drop a text" });
    }
  }

  async #takeFiles(files) {
    const [file] = files;
    if (!file) return;
    const { text, trouble } = await readText(file);
    this.#file.value = "";
    if (trouble) this.notify(trouble);
    if (text !== null) this.#send("replace", { text, what: `open ${file.name}` });
  }

  #send(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** A file's text; or null and why not. */
async function readText(file) {
  if (file.size > MOST_BYTES) {
    return { text: null, trouble: `${file.name} is larger than 4 MB. Paste the part to label.` };
  }
  const bytes = await file.arrayBuffer();
  if (new Uint8Array(bytes).includes(0)) {
    return {
      text: null,
      trouble: `${file.name} is not a plain text. Save it as .txt, or paste it.`,
    };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), trouble: null };
  } catch {
    const text = new TextDecoder("windows-1252").decode(bytes);
    return { text, trouble: `${file.name} is not UTF-8. It was read as Windows-1252.` };
  }
}

/** How loudly a word is marked, as a fraction of the loudest one; "" for not at all. */
function strengthOf(fraction) {
  if (fraction >= 0.4) return "strong";
  if (fraction >= 0.15) return "medium";
  return fraction >= 0.04 ? "weak" : "";
}

/** Cut a text into strings and marks. */
function marked(text, terms) {
  const termOf = new Map();
  for (const term of terms) {
    for (const word of term.words) termOf.set(word.toLowerCase(), term);
  }
  if (!termOf.size) return [text];
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(anyOf([...termOf.keys()]))) {
    const term = termOf.get(match[0].toLowerCase());
    if (!term) continue;
    pieces.push(text.slice(end, match.index), markOf(match[0], term));
    end = match.index + match[0].length;
  }
  return [...pieces, text.slice(end)];
}

function markOf(word, term) {
  const side = term.log_odds > 0 ? "for" : "against";
  return make("mark", { class: `${side} ${term.strength}`, "data-term": term.term }, word);
}

/** Match any of the words where no letter or digit touches it, longest first. */
function anyOf(words) {
  const escaped = words
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}
