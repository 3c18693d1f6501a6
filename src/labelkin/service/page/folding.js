/** Labels that are hardly in question are folded away, and how many there are is said. */

import { find, setAttribute, setText } from "./dom.js";
import { percent } from "./numbers.js";
import { t } from "./words.js";

/** Below this a label is unlikely. */
const UNLIKELY = 0.01;
/** So many are shown at least, however unlikely. */
const LEAST = 3;

/** Sends "change" when the person opens or closes the fold. */
export class Fold extends EventTarget {
  #isOpen = false;

  constructor() {
    super();
    find("fold").addEventListener("click", () => {
      this.#isOpen = !this.#isOpen;
      this.dispatchEvent(new CustomEvent("change"));
    });
  }

  /** Fold again: another text has come. */
  close() {
    this.#isOpen = false;
  }

  /** Return the suggestions to show; `isBlind`: only how common labels are can be said. */
  shown({ suggestions, n_open: nOpen }, isBlind, hasMore) {
    const nLikely = isBlind ? 0 : likely(suggestions);
    const isFolded = nLikely < suggestions.length;
    const fold = find("fold");
    fold.hidden = !isFolded;
    setAttribute(fold, "aria-expanded", this.#isOpen);
    const values = { n: nOpen - nLikely, percent: percent(UNLIKELY) };
    setText(find("fold-text"), t(isBlind ? "fold.common" : "fold.unlikely", values));
    find("more").hidden = !hasMore || (isFolded && !this.#isOpen);
    return this.#isOpen || !isFolded ? suggestions : suggestions.slice(0, nLikely);
  }
}

function likely(suggestions) {
  const n = suggestions.filter(({ probability }) => probability >= UNLIKELY).length;
  return Math.min(Math.max(n, LEAST), suggestions.length);
}
