/** The document: writing, dropping and opening a text, and its words marked. */

import { find } from "./dom.js";
import { marked, withStrength } from "./marks.js";
import { t } from "./words.js";

/** Longer texts are not laid out a second time for their marks: that takes a browser seconds. */
const MOST_MARKED = 50_000;
/** No character of a text takes more bytes. */
const BYTES = 4;
/** Files with a record per line; `labelkin predict` labels them. */
const TABLE = /\.(csv|tsv|tab|jsonl|ndjson)$/i;

/**
 * Sends "write" {text} while typing, "replace" {text, what} for a whole new text, "leave", and
 * "long" {n, most, take} for a text beyond the limit: `take()` takes its beginning.
 */
export class TextPane extends EventTarget {
  #area = find("text");
  #marks = find("marks");
  #paper = find("paper");
  #file = find("file");
  #highlights = [];

  /** How many characters a text may have; the service says. */
  limit = Infinity;

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
    this.#area.addEventListener("paste", (event) => this.#onPaste(event));
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
    this.#highlights = withStrength(terms);
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
    const isLong = text.length > MOST_MARKED;
    this.#paper.classList.toggle("long", isLong);
    // The trailing blank keeps a last empty line as high as the textarea has it.
    if (isLong) this.#marks.replaceChildren();
    else this.#marks.replaceChildren(...marked(text, this.#highlights), "\u200b");
  }

  /** Keep a text that is too long out before the browser has laid it out. */
  #onPaste(event) {
    const { value, selectionStart, selectionEnd } = this.#area;
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (value.length - (selectionEnd - selectionStart) + pasted.length <= this.limit) return;
    event.preventDefault();
    const text = value.slice(0, selectionStart) + pasted + value.slice(selectionEnd);
    this.#replace(text, text.length, t("step.paste"));
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
    const text = data.getData("text/plain");
    if (data.files.length) this.#takeFiles(data.files);
    else if (text) this.#replace(text, text.length, t("step.drop"));
  }

  async #takeFiles(files) {
    const [file] = files;
    if (!file) return;
    const { text, trouble } = await readText(file, this.limit);
    this.#file.value = "";
    if (trouble) this.notify(trouble);
    if (text === null) return;
    // Of a file that was read in part only its size is known.
    const n = text.length > this.limit ? Math.max(text.length, file.size) : text.length;
    this.#replace(text, n, t("step.open", { name: file.name }));
  }

  /** Take a whole new text; of one that is too long, its beginning, when the person wants it. */
  #replace(text, n, what) {
    const { limit } = this;
    if (n <= limit) this.#send("replace", { text, what });
    else {
      const take = () => this.#send("replace", { text: beginning(text, limit), what });
      this.#send("long", { n, most: limit, take });
    }
  }

  #send(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** The first characters of a text, none of them cut in two. */
function beginning(text, most) {
  const cut = text.slice(0, most);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** A file's text, a little more than `most` characters of it at most; or null and why not. */
async function readText(file, most) {
  const { name } = file;
  const isWhole = file.size <= BYTES * (most + 1);
  const part = isWhole ? file : file.slice(0, BYTES * (most + 1));
  const bytes = await part.arrayBuffer();
  const refused = (key) => ({ text: null, trouble: t(key, { name }) });
  if (TABLE.test(name)) return refused("file.table");
  // No text has control characters, apart from tabs, line ends and page breaks.
  if (new Uint8Array(bytes).some((byte) => byte < 9 || (byte > 13 && byte < 32)))
    return refused("file.no-text");
  try {
    // Where a file is cut, so may be its last character: that is no fault of the file.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole });
    return text.trim() ? { text, trouble: null } : refused("file.empty");
  } catch {
    const text = new TextDecoder("windows-1252").decode(bytes);
    return { text, trouble: t("file.not-utf8", { name }) };
  }
}
