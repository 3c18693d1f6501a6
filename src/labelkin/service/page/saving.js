/** The result as JSON: to the clipboard, to a file. */

import { nameOf, titleOf } from "./names.js";

/** The accepted labels, and those that follow from them by a rule (`known` of an answer). */
export function withImplied(accepted, known) {
  const implied = known.filter(({ state, because }) => because && state === "accepted");
  return [...new Set([...accepted, ...implied.map(({ label }) => label)])];
}

/** What a person has decided about a document, with the ranking they saw. */
export function resultOf(state, { suggestions, known }) {
  return {
    model: state.model,
    created: new Date().toISOString(),
    text: state.text,
    accepted: withImplied(state.accepted, known),
    rejected: state.rejected,
    suggestions: suggestions.map(({ label, probability, log_odds, parts }) => ({
      label,
      ...(titleOf(label) ? { name: nameOf(label) } : {}),
      probability,
      log_odds,
      parts,
    })),
  };
}

/** Put a text on the clipboard. */
export async function copyText(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  // Without https, browsers only offer the old way.
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("The browser does not let this page copy. Use Download instead.");
}

/** Offer a text as a file. */
export function downloadText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A file name from a document's first words. */
export function fileName(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return `${words.slice(0, 6).join("-").slice(0, 60) || "document"}.labels.json`;
}
