/** How much of a text the model can read, and a warning where that is little. */

import { find, setText } from "./dom.js";
import { t } from "./words.js";

/** Fewer words than these, or a smaller share of a text, are few. */
const FEW = 3;
const SMALL_SHARE = 0.15;
/** Words of a longer text are not counted: the share is no news there. */
const MOST_COUNTED = 200_000;

/** Say how many words the model knows; return whether it is none. `nKnown` null: it has no words. */
export function showKnownWords(text, nKnown) {
  const hasText = text.trim() !== "";
  const isCounted = hasText && nKnown !== null;
  const n = isCounted ? countWords(text.slice(0, MOST_COUNTED)) : 0;
  const isShort = text.length <= MOST_COUNTED;
  const isNone = isCounted && nKnown === 0;
  const isFew = isCounted && !isNone && isShort && n > nKnown && isLittle(nKnown, n);
  const warning = find("few-words");
  warning.hidden = !isNone && !isFew;
  setText(warning, isNone ? t("words.none") : isFew ? t("words.few", { n: nKnown, all: n }) : "");
  setText(find("word-count"), isCounted ? t("words.known", { n: nKnown }) : "");
  return isNone;
}

function isLittle(nKnown, n) {
  return nKnown < FEW ? n >= FEW : nKnown < SMALL_SHARE * n;
}

function countWords(text) {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}
