/** The document: writing, dropping and opening a text, and its words marked. */

import { find } from "./dom.js";
import { marked, withStrength } from "./marks.js";

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
