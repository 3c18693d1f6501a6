/** Moves rows from where they were to where they are. */

const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const GLIDE = { duration: 220, easing: "cubic-bezier(0.2, 0.8, 0.2, 1)" };

/** Run `rearrange`, which may move, add and remove children of `parent`, and animate the way. */
export function glide(parent, rearrange) {
  if (CALM.matches) {
    rearrange();
    return;
  }
  const before = places(parent);
  rearrange();
  for (const [child, top] of places(parent)) {
    const from = before.get(child);
    if (from === undefined) child.animate({ opacity: [0, 1] }, GLIDE);
    else if (Math.abs(from - top) > 1) {
      child.animate({ transform: [`translateY(${from - top}px)`, "none"] }, GLIDE);
    }
  }
}

function places(parent) {
  return new Map([...parent.children].map((child) => [child, child.offsetTop]));
}
