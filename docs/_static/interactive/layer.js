// The label layer in plain JavaScript: the terms of labelkin.learned.terms, and their parts.
// Written by hand; `layer` is the data of newsroom.js. A test compares it with the Python model.
"use strict";

/** The probability of log-odds. */
function sigmoid(x) {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

/**
 * Decompose the posterior of one document.
 *
 * content: log-odds of every label given the document. known: 1 accepted, 0 rejected, null open.
 * Returns, for every label j: `logOdds` (±Infinity where known) and `parts`, which add up to it where
 * it is open: prior, content, predicted, known; `predictedBy[k]` and `knownBy[k]` are what label k
 * adds, and `rest` what predicted labels add when each is at its prior.
 */
function decompose(layer, content, known) {
  const all = [...layer.labels.keys()];
  const filled = all.map((k) => sigmoid(layer.slope[k] * content[k] + layer.shift[k]));
  const predicted = all.map((j) =>
    all.reduce((sum, k) => sum + filled[k] * layer.predicted_weights[k][j], layer.predicted_bias[j]),
  );
  const news = all.map((k) => (known[k] === null ? 0 : layer.known_weight * (known[k] - filled[k])));
  const knownBy = all.map((j) => all.map((k) => (news[k] === 0 ? 0 : news[k] * layer.paper_weights[k][j])));
  const added = all.map((j) => knownBy[j].reduce((sum, value) => sum + value, 0));
  const logOdds = all.map((j) => content[j] + predicted[j] + added[j]);
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
        known: added[j],
      },
      predictedBy,
      rest: predicted[j] - predictedBy.reduce((sum, value) => sum + value, 0),
      knownBy: knownBy[j],
      filled: filled[j],
    };
  });
}

if (typeof module !== "undefined") module.exports = { sigmoid, decompose };
