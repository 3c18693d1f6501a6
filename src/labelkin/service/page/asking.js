/** Asks the service for suggestions and explanations, and drops answers that come too late. */

import * as api from "./api.js";
import { Latest } from "./latest.js";

const SLOW = 200;
const PAGE_SIZE = 20;
const NOTHING = { suggestions: [], known: [], n_words: null, learned: 0, n_open: 0 };

/** Sends "answer" {next, before, cause}, "explanation", "trouble" {problem, again}, "busy". */
export class Asker extends EventTarget {
  #store;
  #suggesting = new Latest();
  #explaining = new Latest();
  #limit = PAGE_SIZE;

  constructor(store) {
    super();
    this.#store = store;
    this.answer = NOTHING;
  }

  /** Whether there are more labels than the answer holds. */
  get hasMore() {
    return this.answer.suggestions.length < this.answer.n_open;
  }

  /** Ask for more labels than now. */
  askForMore() {
    this.#limit += PAGE_SIZE;
    return this.askSuggestions(0, "more");
  }

  /** Ask for no more labels than at first. */
  shorten() {
    this.#limit = PAGE_SIZE;
  }

  /** Ask for everything that is shown, after `delay` ms. */
  ask(delay, cause) {
    this.askSuggestions(delay, cause);
    this.askExplanation(delay);
  }

  async askSuggestions(delay, cause) {
    const { model, text, accepted, rejected } = this.#store.now;
    if (!model) return;
    if (!text.trim() && !accepted.length) {
      this.#suggesting.stop();
      this.#take(NOTHING, cause);
      return;
    }
    const body = { text, accepted, rejected, limit: this.#limit };
    const slow = setTimeout(() => this.#send("busy", { busy: true }), delay + SLOW);
    try {
      const next = await this.#suggesting.run((signal) => api.suggest(model, body, signal), delay);
      if (next) this.#take(next, cause);
    } catch (problem) {
      this.#send("busy", { busy: false });
      this.#send("trouble", { problem, again: () => this.ask(0, cause) });
    } finally {
      clearTimeout(slow);
    }
  }

  async askExplanation(delay = 0) {
    const { model, explained, text, accepted, rejected } = this.#store.now;
    if (!explained || !model) return;
    // A decided label is explained like an open one: its evidence is still of interest.
    const others = (labels) => labels.filter((label) => label !== explained);
    const body = { text, accepted: others(accepted), rejected: others(rejected), label: explained };
    try {
      const reasons = await this.#explaining.run(
        (signal) => api.explain(model, body, signal),
        delay,
      );
      if (reasons) this.#send("explanation", reasons);
    } catch (problem) {
      this.#store.change({ explained: null });
      this.#send("trouble", { problem, again: null });
    }
  }

  stopExplaining() {
    this.#explaining.stop();
  }

  #take(next, cause) {
    const before = this.answer;
    this.answer = next;
    this.#send("busy", { busy: false });
    this.#send("answer", { next, before, cause });
  }

  #send(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
