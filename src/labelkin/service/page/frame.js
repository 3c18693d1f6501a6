/** What every page has: its icons, the place for troubles and notes, the question for a token. */

const ICONS = {
  accept: '<path d="m4 10.5 4 4 8-9"/>',
  reject: '<path d="m5 5 10 10M15 5 5 15"/>',
  undo: '<path d="M4 8h8a4 4 0 0 1 0 8H8M4 8l4-4M4 8l4 4"/>',
  redo: '<path d="M16 8H8a4 4 0 0 0 0 8h4M16 8l-4-4M16 8l-4 4"/>',
  map: '<path d="M5.5 5.5 14 4.5M5.5 5.5l3.5 9.5M14 4.5 9 15M9 15l6.5-1.5"/><circle cx="5.5" cy="5.5" r="1.8"/><circle cx="14" cy="4.5" r="1.8"/><circle cx="9" cy="15" r="1.8"/><circle cx="15.5" cy="13.5" r="1.8"/>',
  help: '<path d="M7 7.5a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 1.9M10 15.2v.1"/>',
  file: '<path d="M5 3h7l3.5 3.5V17H5zM12 3v4h3.5"/>',
  new: '<path d="M10 4v12M4 10h12"/>',
  copy: '<path d="M7.5 7.5h9v9h-9zM4.5 12.5h-1v-9h9v1"/>',
  download: '<path d="M10 3v9M6 8.5l4 4 4-4M4 16.5h12"/>',
  search: '<circle cx="9" cy="9" r="5"/><path d="m13 13 4 4"/>',
  fold: '<path d="m5 8 5 5 5-5"/>',
  before: '<path d="m12 4-6 6 6 6"/>',
  after: '<path d="m8 4 6 6-6 6"/>',
};

const symbols = Object.entries(ICONS).map(
  ([name, drawing]) => `<symbol id="icon-${name}" viewBox="0 0 20 20">${drawing}</symbol>`,
);

const SPRITE = `<svg class="sprite" aria-hidden="true" focusable="false">${symbols.join("")}</svg>`;

const TROUBLE = `
  <div id="trouble" class="trouble" role="alert" hidden>
    <p id="trouble-text"></p>
    <div>
      <button type="button" id="trouble-retry"></button>
      <button type="button" id="trouble-close" class="plain" data-t="trouble.dismiss"></button>
    </div>
  </div>`;

const NOTES = `
  <div id="changes" class="hidden" aria-live="polite"></div>
  <div id="toast" class="toast" role="status"></div>
  <dialog id="token" aria-labelledby="token-title">
    <form method="dialog" id="token-form">
      <h2 id="token-title" data-t="token.title"></h2>
      <p id="token-text"></p>
      <label for="token-value" data-t="token.token"></label>
      <input id="token-value" type="password" autocomplete="off" required>
      <div class="actions">
        <button type="submit" class="primary" value="use" data-t="token.continue"></button>
        <button type="button" id="token-cancel" data-t="token.cancel"></button>
      </div>
    </form>
  </dialog>`;

// The markup is this module's own; what comes from people or the service only ever becomes text.
document.body.insertAdjacentHTML("afterbegin", SPRITE);
document.querySelector("main").insertAdjacentHTML("beforebegin", TROUBLE);
document.body.insertAdjacentHTML("beforeend", NOTES);
