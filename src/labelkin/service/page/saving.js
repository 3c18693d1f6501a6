/** The result as text, CSV or JSON: to the clipboard, to a file. */

import { nameOf, titleOf } from "./names.js";
import { t } from "./words.js";

/** By format: the ending of a file, its type, and what is written. */
const FORMATS = {
  text: { ending: "txt", type: "text/plain", write: asText },
  csv: { ending: "csv", type: "text/csv", write: asCsv },
  json: { ending: "json", type: "application/json", write: asJson },
};

/** The accepted labels, and those that follow from them by a rule (`known` of an answer). */
export function withImplied(accepted, known) {
  const implied = known.filter(({ state, because }) => because && state === "accepted");
  return [...new Set([...accepted, ...implied.map(({ label }) => label)])];
}

/** What a person has decided about a document, written in a format. */
export function written(format, state, answer) {
  return FORMATS[format].write(state, answer);
}

/** The accepted labels by their names, one per line. */
function asText(state, { known }) {
  return [...withImplied(state.accepted, known), ...state.added]
    .map((label) => `${nameOf(label)}\n`)
    .join("");
}

/** A row per decided label. */
function asCsv(state, { known }) {
  const rows = [
    ...withImplied(state.accepted, known).map((label) => [label, nameOf(label), "accepted"]),
    ...state.added.map((label) => [label, label, "new"]),
    ...state.rejected.map((label) => [label, nameOf(label), "rejected"]),
  ];
  const lines = [["label", "name", "state"], ...rows].map((row) => row.map(field).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** A field of CSV; what a spreadsheet would take for a formula gets an apostrophe. */
function field(text) {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Everything: the text, the decisions, and the ranking that the person saw. */
function asJson(state, { suggestions, known }) {
  const result = {
    model: state.model,
    created: new Date().toISOString(),
    text: state.text,
    accepted: withImplied(state.accepted, known),
    rejected: state.rejected,
    new: state.added,
    suggestions: suggestions.map(({ label, probability, log_odds, parts }) => ({
      label,
      ...(titleOf(label) ? { name: nameOf(label) } : {}),
      probability,
      log_odds,
      parts,
    })),
  };
  return `${JSON.stringify(result, null, 2)}\n`;
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
  if (!done) throw new Error(t("copy.forbidden"));
}

/** Offer a text as a file. */
export function downloadText(name, text, format) {
  const address = URL.createObjectURL(new Blob([text], { type: FORMATS[format].type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A file name from a document's first words. */
export function fileName(text, format) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const name = words.slice(0, 6).join("-").slice(0, 60) || "document";
  return `${name}.labels.${FORMATS[format].ending}`;
}
