/** The label map: which labels attract and repel each other, as a graph and as a table. */

import { draw, find, make, setAttribute } from "./dom.js";
import { LabelSearch } from "./label_search.js";
import { Latest } from "./latest.js";
import { edgeTable, introduction, relatedLabels } from "./map_details.js";
import { pushApart } from "./map_layout.js";
import { nameOf } from "./names.js";
import { t } from "./words.js";

const LEAST = { width: 620, height: 420 };
/** On a screen narrower than this, in pixels, names would be on top of each other: a table fits. */
const NARROW = 640;
const MARGIN = 30;
/** How far from the middle a line bends, in parts of the way to where it would be straight. */
const BEND = 0.6;

/**
 * `load(model, label, signal)` gives the graph of all labels (null) or of one and its neighbours,
 * `loadRelated(model, label, signal)` the labels related to one, `search(model, q, signal)` labels.
 */
export class LabelMap extends EventTarget {
  #dialog = find("map");
  #canvas = find("map-canvas");
  #table = find("map-table");
  #details = find("map-details");
  #latest = new Latest();
  #graphs = new Latest();
  #graph = null;
  #whole = null; // the graph of all labels, when another one is shown
  #model = null;
  #selected = null;

  constructor({ load, loadRelated, search, onTrouble }) {
    super();
    this.load = load;
    this.loadRelated = loadRelated;
    this.onTrouble = onTrouble;
    find("map-as-graph").addEventListener("click", () => this.#view("graph"));
    find("map-as-table").addEventListener("click", () => this.#view("table"));
    find("map-of-all").addEventListener("click", () => this.#show(this.#whole, null));
    const found = new LabelSearch({
      name: "map-search",
      search: (q, signal) => search(this.#model, q, signal),
      stateOf: () => "open",
      onTrouble: (problem) => this.#complain(problem),
    });
    found.addEventListener("choose", ({ detail }) => this.#showAround(detail.label));
    new ResizeObserver(() => this.#redraw()).observe(this.#canvas);
  }

  /** Open the map of a model, with the chosen labels marked. */
  async open(model, chosen) {
    this.chosen = new Set(chosen);
    this.#dialog.showModal();
    if (this.#model === null) this.#view(innerWidth < NARROW ? "table" : "graph");
    try {
      if (this.#model !== model) {
        this.#wait();
        this.#whole = await this.load(model);
        this.#graph = this.#whole;
        this.#selected = null;
      }
    } catch (problem) {
      this.#dialog.close();
      this.onTrouble(problem);
      return;
    }
    this.#model = model;
    this.#show(this.#graph, this.#selected);
  }

  /** Say that the map is on its way. */
  #wait() {
    for (const place of [this.#canvas, this.#table]) {
      place.replaceChildren(make("p", { class: "waiting", role: "status" }, t("map.loading")));
    }
    this.#details.replaceChildren();
    this.#dialog.setAttribute("aria-busy", "true");
  }

  /** Show a graph, with one of its labels selected, or none. */
  #show(graph, label) {
    this.#dialog.removeAttribute("aria-busy");
    this.#graph = graph;
    this.#selected = label;
    this.#drawnAt = "";
    this.#redraw();
    this.#table.replaceChildren(edgeTable(graph, (other) => this.#select(other)));
    find("map-of-all").hidden = graph === this.#whole;
    if (label === null) this.#details.replaceChildren(introduction(graph));
    else this.#select(label);
  }

  /** Show a label and its neighbours, whether or not it is among the strongest of all. */
  async #showAround(label) {
    try {
      const graph = await this.#graphs.run((signal) => this.load(this.#model, label, signal));
      if (graph) this.#show(graph, label);
    } catch (problem) {
      this.#complain(problem);
    }
  }

  #complain(problem) {
    this.#details.replaceChildren(make("p", {}, problem.message));
  }

  #drawnAt = "";

  #redraw() {
    const { clientWidth, clientHeight } = this.#canvas;
    const at = `${clientWidth}×${clientHeight}`;
    if (!this.#graph || !clientWidth || at === this.#drawnAt) return;
    this.#drawnAt = at;
    const size = {
      width: Math.max(clientWidth, LEAST.width),
      height: Math.max(clientHeight, LEAST.height),
    };
    this.#canvas.replaceChildren(this.#picture(size));
    this.#placeNodes(size);
    this.#light(this.#selected);
  }

  #picture({ width, height }) {
    const { nodes, edges } = this.#graph;
    const strongest = Math.max(0.1, ...edges.map((edge) => Math.abs(edge.bound)));
    return draw(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height },
      draw(
        "g",
        { class: "edges", "aria-hidden": "true" },
        edges.map((edge) => drawEdge(edge, strongest)),
      ),
      draw(
        "g",
        { class: "nodes" },
        nodes.map((node) => this.#drawNode(node)),
      ),
    );
  }

  #drawNode({ label, documents }) {
    const edges = this.#graph.edges.filter((edge) => edge.first === label || edge.second === label);
    const nFor = edges.filter((edge) => edge.strength > 0).length;
    const description = [
      nameOf(label),
      t("n-documents", { n: documents }),
      t("map.attractions", { n: nFor }),
      t("map.repulsions", { n: edges.length - nFor }),
    ].join(", ");
    const light = (name) => () => this.#light(name ?? this.#selected);
    const onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.#select(label);
    };
    const listeners = {
      onpointerenter: light(label),
      onpointerleave: light(null),
      onfocus: light(label),
      onblur: light(null),
      onclick: () => this.#select(label),
      onkeydown,
    };
    return draw(
      "g",
      {
        class: this.chosen.has(label) ? "node chosen" : "node",
        role: "button",
        tabindex: 0,
        "aria-label": description + (this.chosen.has(label) ? `, ${t("map.is-chosen")}` : ""),
        "data-label": label,
        ...listeners,
      },
      draw("title", {}, description),
      draw("rect", { rx: 6 }),
      draw("text", { "text-anchor": "middle", "dominant-baseline": "central" }, nameOf(label)),
    );
  }

  /** Give every name its box, push the boxes apart, and draw the edges between them. */
  #placeNodes({ width, height }) {
    const groups = [...this.#canvas.querySelectorAll(".node")];
    const boxes = this.#graph.nodes.map(({ x, y }, i) => ({
      x: MARGIN + x * (width - 2 * MARGIN),
      y: MARGIN + y * (height - 2 * MARGIN),
      width: groups[i].querySelector("text").getBBox().width + 16,
      height: 26,
    }));
    pushApart(boxes, width, height);
    const places = new Map();
    groups.forEach((group, i) => {
      const box = boxes[i];
      places.set(group.dataset.label, box);
      group.setAttribute("transform", `translate(${box.x} ${box.y})`);
      const rectangle = { x: -box.width / 2, y: -13, width: box.width, height: 26 };
      for (const [name, value] of Object.entries(rectangle))
        group.querySelector("rect").setAttribute(name, value);
    });
    for (const line of this.#canvas.querySelectorAll(".edge")) {
      const [one, other] = [places.get(line.dataset.first), places.get(line.dataset.second)];
      const bend = [towards(width, one.x + other.x), towards(height, one.y + other.y)];
      line.setAttribute("d", `M ${one.x} ${one.y} Q ${bend.join(" ")} ${other.x} ${other.y}`);
    }
  }

  /** Dim everything that has nothing to do with a label; null lights everything. */
  #light(label) {
    const related = new Set([label]);
    for (const line of this.#canvas.querySelectorAll(".edge")) {
      const { first, second } = line.dataset;
      const touches = first === label || second === label;
      if (touches) related.add(first).add(second);
      line.classList.toggle("dim", label !== null && !touches);
    }
    for (const node of this.#canvas.querySelectorAll(".node")) {
      node.classList.toggle("dim", label !== null && !related.has(node.dataset.label));
      setAttribute(node, "aria-pressed", node.dataset.label === this.#selected);
    }
  }

  async #select(label) {
    this.#selected = label;
    this.#light(label);
    try {
      const answer = await this.#latest.run((signal) =>
        this.loadRelated(this.#model, label, signal),
      );
      if (!answer) return;
      const onSelect = (other) => this.#select(other);
      const onAround = () => this.#showAround(label);
      this.#details.replaceChildren(...relatedLabels(answer, onSelect, onAround));
    } catch (problem) {
      this.#complain(problem);
    }
  }

  #view(name) {
    this.#canvas.hidden = name !== "graph";
    this.#table.hidden = name !== "table";
    setAttribute(find("map-as-graph"), "aria-pressed", name === "graph");
    setAttribute(find("map-as-table"), "aria-pressed", name === "table");
  }
}

/** A line, as wide as what documents bear out of its strength at the least. */
function drawEdge({ first, second, strength, bound }, strongest) {
  const width = 0.8 + (4.7 * Math.abs(bound)) / strongest;
  const side = strength > 0 ? "attraction" : "repulsion";
  return draw("path", {
    class: `edge ${side}`,
    "stroke-width": width.toFixed(1),
    "data-first": first,
    "data-second": second,
  });
}

/** Where a line bends: towards the middle of the circle, away from the names between its ends. */
function towards(size, sum) {
  return size / 2 + BEND * (sum / 2 - size / 2);
}
