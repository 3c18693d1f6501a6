// The page around layer.js: documents to choose, labels to accept and reject, and reasons.
"use strict";

(function () {
  const SHOWN = 0.02; // labels that were ever as probable as this are listed
  const layer = NEWSROOM;
  const all = [...layer.labels.keys()];
  const place = document.getElementById("kin");
  const state = { document: 0, known: all.map(() => null), asked: null, everything: false, said: "" };

  function element(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key in made) made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  const nothing = () => all.map(() => null);
  const content = () => layer.documents[state.document].content;
  const percent = (p) => (p > 0.9995 || p < 0.0005 ? `${(100 * p).toFixed(2)} %` : `${(100 * p).toFixed(1)} %`);
  const withSign = (x) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;
  const direction = (x) => (x > 0 ? "kin-number kin-up" : "kin-number kin-down");

  /** Answer a label; the same answer again takes it back. */
  function answer(k, what) {
    const before = decompose(layer, content(), state.known);
    const taken = state.known[k] === what;
    state.known[k] = taken ? null : what;
    const now = decompose(layer, content(), state.known);
    const moved = all
      .filter((j) => j !== k && state.known[j] === null)
      .map((j) => ({ j, from: sigmoid(before[j].logOdds), to: sigmoid(now[j].logOdds) }))
      .filter((move) => Math.abs(move.to - move.from) > 0.005)
      .sort((one, other) => Math.abs(other.to - other.from) - Math.abs(one.to - one.from));
    if (moved.length && (state.asked === null || state.known[state.asked] !== null)) state.asked = moved[0].j;
    const did = taken ? "Open again" : what ? "Accepted" : "Rejected";
    const told = moved.slice(0, 3).map((m) => `${layer.labels[m.j]} ${percent(m.from)} → ${percent(m.to)}`);
    state.said = `${did}: ${layer.labels[k]}. ${told.length ? told.join(", ") + "." : "No other label moves by half a per cent: this was expected, or it has no kin here."}`;
    draw();
  }

  function row(j, start, now) {
    const known = state.known[j];
    const before = sigmoid(start[j].logOdds);
    const p = sigmoid(now[j].logOdds);
    const name = layer.labels[j];
    const moved = known === null ? now[j].logOdds - start[j].logOdds : 0;
    const bar = element("div", { className: "kin-bar", ariaHidden: "true" }, element("i"), element("b"));
    bar.firstChild.style.width = `${100 * p}%`;
    bar.lastChild.style.left = `calc(${100 * before}% - 1px)`;
    const number = element("span", { className: "kin-number" }, known === null ? percent(p) : known ? "accepted" : "rejected");
    if (Math.abs(moved) >= 0.005) number.append(" ", element("span", { className: direction(moved) }, `(${withSign(moved)})`));
    const button = (what, word, sign) =>
      element(
        "button",
        {
          type: "button", className: what ? "kin-yes" : "kin-no", id: `kin-${what}-${j}`, title: `${word} ${name}`,
          "aria-label": `${word} ${name}`, "aria-pressed": String(known === what), onclick: () => answer(j, what),
        },
        sign,
      );
    return element(
      "li",
      {},
      element(
        "button",
        {
          type: "button", className: "kin-name", id: `kin-why-${j}`, title: `Why ${name}?`, "aria-pressed": String(state.asked === j),
          onclick: () => { state.asked = j; draw(); },
        },
        name,
      ),
      bar,
      number,
      element("div", { className: "kin-answers" }, button(1, "Accept", "✓"), button(0, "Reject", "✗")),
    );
  }

  function line(what, logOdds, kind) {
    return element(
      "tr",
      { className: kind || "" },
      element("td", {}, what),
      element("td", { className: kind === "kin-sum" ? "kin-number" : direction(logOdds) }, withSign(logOdds)),
    );
  }

  /** The largest contributions, and one line for all others, so that the lines add up. */
  function contributions(values, verb, most) {
    const order = all.filter((k) => values[k] !== 0).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
    const lines = order.slice(0, most).map((k) => line(verb(k), values[k], "kin-of"));
    const others = order.slice(most).reduce((sum, k) => sum + values[k], 0);
    if (order.length > most) lines.push(line(`${order.length - most} other labels`, others, "kin-of"));
    return lines;
  }

  function why(now) {
    const j = state.asked;
    if (j === null) return element("p", {}, "Choose a label by its name to see why it is where it is.");
    const { parts, predictedBy, knownBy, rest, logOdds, label } = now[j];
    if (state.known[j] !== null) return element("p", {}, `${label} is known: you ${state.known[j] ? "accepted" : "rejected"} it.`);
    const body = element("tbody", {}, line("prior: how frequent the label is", parts.prior), line("content: what the document says", parts.content), line("predicted labels: what the model believes of the others", parts.predicted));
    body.append(...contributions(predictedBy, (k) => `${layer.labels[k]}, predicted ${percent(now[k].filled)}, usually ${percent(layer.prior[k])}`, 4));
    body.append(line("all labels as frequent as usual", rest, "kin-of"));
    body.append(line("known labels: what your answers add to that", parts.known));
    body.append(...contributions(knownBy, (k) => `${layer.labels[k]} ${state.known[k] ? "accepted" : "rejected"}, predicted ${percent(now[k].filled)}`, 12));
    body.append(line(`log-odds of ${label}: ${percent(sigmoid(logOdds))}`, logOdds, "kin-sum"));
    return element(
      "table",
      {},
      element("caption", { style: "caption-side: top; text-align: left" }, `Why ${label}?`),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "part"), element("th", { scope: "col", className: "kin-number" }, "log-odds"))),
      body,
    );
  }

  function draw() {
    const focused = document.activeElement && document.activeElement.id;
    const start = decompose(layer, content(), nothing());
    const now = decompose(layer, content(), state.known);
    const listed = all
      .filter((j) => state.everything || state.known[j] !== null || sigmoid(start[j].logOdds) >= SHOWN || sigmoid(now[j].logOdds) >= SHOWN)
      .sort((a, b) => start[b].logOdds - start[a].logOdds);
    const text = layer.documents[state.document].text;
    const [title, ...body] = text.split("\n");
    labels.replaceChildren(...listed.map((j) => row(j, start, now)));
    shownText.replaceChildren(element("strong", {}, title), body.join(" "));
    said.textContent = state.said || "Accept (✓) or reject (✗) a label: the others respond. The black mark is where a label stood before.";
    reasons.replaceChildren(why(now));
    more.textContent = state.everything ? "Fewer labels" : `All ${all.length} labels`;
    const again = focused && document.getElementById(focused);
    if (again) again.focus();
  }

  function restart(number) {
    Object.assign(state, { document: number, known: nothing(), asked: null, said: "" });
    draw();
  }

  const choose = element("select", { id: "kin-document", onchange: () => restart(Number(choose.value)) });
  layer.documents.forEach((one, i) => choose.append(element("option", { value: String(i) }, one.text.split("\n")[0])));
  const reset = element("button", { type: "button", id: "kin-reset", onclick: () => restart(state.document) }, "Take all answers back");
  const more = element("button", { type: "button", id: "kin-more", onclick: () => { state.everything = !state.everything; draw(); } });
  const shownText = element("div", { className: "kin-text", tabIndex: 0, role: "region", "aria-label": "The document" });
  const said = element("p", { className: "kin-said", role: "status" });
  const labels = element("ul", { className: "kin-labels" });
  const reasons = element("div", { className: "kin-why", tabIndex: 0, role: "region", "aria-label": "Reasons" });
  place.replaceChildren(
    element("div", { className: "kin-choose" }, element("label", { htmlFor: "kin-document" }, "Document"), choose, reset),
    shownText,
    said,
    labels,
    element("p", {}, more),
    reasons,
  );
  draw();
  document.documentElement.dataset.ready = "";
})();
