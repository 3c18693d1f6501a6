// The label layer in plain JavaScript: what labelkin's LearnedCombination computes, and its parts.
// Written by hand; `layer` is the data of newsroom.js. A test compares it with the Python model.
"use strict";

const MARGIN = 1e-9; // how far above the rest a first label is put, as in labelkin.beyond.first_place

/** The probability of log-odds. */
function sigmoid(x) {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

/** What an answer counts of the paper's weight: one share above 0, another below. */
function signed(weight, shares) {
  return weight > 0 ? shares[0] * weight : shares[1] * weight;
}

/**
 * Put the winner of the contest first in the posterior, in place; return what that adds to each.
 * Only labels that take part compete; labels that tie stay tied.
 */
function keepFirst(posterior, contest, takesPart) {
  const moved = posterior.map(() => 0);
  const competing = [...posterior.keys()].filter((j) => takesPart[j]);
  if (!competing.length) return moved;
  const highest = Math.max(...competing.map((j) => posterior[j]));
  const best = Math.max(...competing.map((j) => contest[j]));
  const winners = competing.filter((j) => contest[j] >= best - MARGIN * Math.max(1, Math.abs(best)));
  if (winners.some((j) => posterior[j] >= highest)) return moved;
  const target = highest + MARGIN * Math.max(1, Math.abs(highest));
  for (const j of winners) {
    moved[j] = target - posterior[j];
    posterior[j] = target;
  }
  return moved;
}

/**
 * Take the posterior of one document apart.
 *
 * content: log-odds of every label given the document. known: 1 accepted, 0 rejected, null open.
 * Returns, for every label j: `logOdds` (±Infinity where known) and `parts`, which add up to it where
 * it is open: prior, content, predicted, known, firstPlace; `predictedBy[k]` and `knownBy[k]` are what
 * label k adds, and `rest` what predicted labels add when each is as frequent as usual.
 */
function takenApart(layer, content, known) {
  const all = [...layer.labels.keys()];
  const filled = all.map((k) => sigmoid(layer.slope[k] * content[k] + layer.shift[k]));
  const predicted = all.map((j) =>
    all.reduce((sum, k) => sum + filled[k] * layer.predicted_weights[k][j], layer.predicted_bias[j]),
  );
  const logOdds = all.map((j) => content[j] + predicted[j]);
  const contest = all.map((j) => content[j] + layer.first_place * predicted[j]);
  const firstPlace =
    layer.first_place < 1 ? keepFirst(logOdds, contest, all.map(() => true)) : all.map(() => 0);

  const news = all.map((k) => (known[k] === null ? 0 : known[k] - filled[k]));
  const counts = (k, j) =>
    signed(layer.paper_weights[k][j], known[k] === 1 ? layer.accepted : layer.rejected);
  const knownBy = all.map((j) => all.map((k) => (news[k] === 0 ? 0 : news[k] * counts(k, j))));
  const total = (j, answer) => all.reduce((sum, k) => sum + (known[k] === answer ? knownBy[j][k] : 0), 0);
  const accepted = all.map((j) => total(j, 1));
  const rejected = all.map((j) => total(j, 0));
  if (known.some((answer) => answer !== null)) {
    const [a, r] = layer.known_first_place;
    const say = all.map((j) => logOdds[j] + a * accepted[j] + r * rejected[j]);
    for (const j of all) logOdds[j] += accepted[j] + rejected[j];
    if (Math.min(a, r) < 1) {
      const moved = keepFirst(logOdds, say, known.map((answer) => answer === null));
      for (const j of all) firstPlace[j] += moved[j];
    }
  }
  const usual = (j) => all.map((k) => (filled[k] - layer.prior[k]) * layer.predicted_weights[k][j]);
  return all.map((j) => {
    const predictedBy = usual(j);
    return {
      label: layer.labels[j],
      logOdds: known[j] === null ? logOdds[j] : known[j] ? Infinity : -Infinity,
      parts: {
        prior: layer.prior_log_odds[j],
        content: content[j] - layer.prior_log_odds[j],
        predicted: predicted[j],
        known: accepted[j] + rejected[j],
        firstPlace: firstPlace[j],
      },
      predictedBy,
      rest: predicted[j] - predictedBy.reduce((sum, value) => sum + value, 0),
      knownBy: knownBy[j],
      filled: filled[j],
    };
  });
}

if (typeof module !== "undefined") module.exports = { sigmoid, takenApart };
