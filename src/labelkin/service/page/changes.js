/** How probabilities move from one answer to the next, and how that is said. */

import { nameOf } from "./names.js";
import { percent } from "./numbers.js";
import { t } from "./words.js";

const MENTIONED = 0.02;
const MOST_MENTIONED = 3;

/** Label → how far its probability has moved; only labels that both answers have. */
export function changesBetween(before, next) {
  const old = new Map(before.suggestions.map(({ label, probability }) => [label, probability]));
  const kept = next.suggestions.filter(({ label }) => old.has(label));
  return new Map(kept.map(({ label, probability }) => [label, probability - old.get(label)]));
}

/** The largest changes in a sentence. */
export function describeChanges(changes, suggestions) {
  const largest = suggestions
    .map(({ label, probability }) => ({ label, probability, change: changes.get(label) ?? 0 }))
    .filter(({ change }) => Math.abs(change) >= MENTIONED)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
    .slice(0, MOST_MENTIONED)
    .map(({ label, probability, change }) =>
      t(change > 0 ? "change.rose" : "change.fell", {
        label: nameOf(label),
        probability: percent(probability),
      }),
    );
  return largest.length ? `${largest.join(", ")}.` : t("change.nothing");
}
