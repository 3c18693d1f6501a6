/** Elements from plain values. Data only ever becomes text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/** Return the element with this id, which the page must have. */
export function find(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element #${id}.`);
  return element;
}

/** Make an HTML element; `on…` attributes are listeners, null and false leave an attribute out. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Make one of the page's icons. */
export function icon(name) {
  return draw("svg", { "aria-hidden": "true" }, draw("use", { href: `#icon-${name}` }));
}

/** Make text that only screen readers get. */
export function spoken(text) {
  return make("span", { class: "hidden" }, text);
}

/** Set an attribute only when it differs, so that nothing is repainted or read out twice. */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Set text only when it differs. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
