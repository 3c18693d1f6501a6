/** Of many requests only the newest counts. */

export class Latest {
  #timer = 0;
  #controller = null;

  /**
   * Run `task(signal)` after `delay` ms, unless another run comes first.
   *
   * Resolves to the task's answer; to undefined when a newer run or `stop` made it worthless.
   */
  run(task, delay = 0) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    return new Promise((resolve, reject) => {
      controller.signal.addEventListener("abort", () => resolve(undefined));
      const start = () =>
        task(controller.signal).then(
          (answer) => resolve(controller.signal.aborted ? undefined : answer),
          (error) => (controller.signal.aborted ? resolve(undefined) : reject(error)),
        );
      if (delay) this.#timer = setTimeout(start, delay);
      else start();
    });
  }

  /** Forget whatever is under way. */
  stop() {
    clearTimeout(this.#timer);
    this.#controller?.abort();
    this.#controller = null;
  }
}
