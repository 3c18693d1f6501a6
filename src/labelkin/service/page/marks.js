/** Words of a text, marked by what they add. */

import { make } from "./dom.js";

/** Terms `[{term, words, log_odds}]` that are worth a mark, with their strength. */
export function withStrength(terms) {
  const most = Math.max(...terms.map((term) => Math.abs(term.log_odds)));
  return terms
    .map((term) => ({ ...term, strength: strengthOf(Math.abs(term.log_odds) / most) }))
    .filter(({ strength }) => strength);
}

/** Cut a text into strings and marks. */
export function marked(text, terms) {
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

/** How loudly a word is marked, as a fraction of the loudest one; "" for not at all. */
function strengthOf(fraction) {
  if (fraction >= 0.4) return "strong";
  if (fraction >= 0.15) return "medium";
  return fraction >= 0.04 ? "weak" : "";
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
