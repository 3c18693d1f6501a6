/** Room for every name of the label map. */

const ROUNDS = 400;
const GAP = 6;

/**
 * Push boxes apart until none overlap, inside a canvas.
 *
 * `boxes` are {x, y, width, height} with x, y in the middle; they are changed in place. Where the
 * canvas is too small some overlap remains.
 */
export function pushApart(boxes, width, height) {
  for (let round = 0; round < ROUNDS; round += 1) {
    let moved = false;
    for (let i = 0; i < boxes.length; i += 1) {
      for (let j = 0; j < i; j += 1) moved = separate(boxes[i], boxes[j]) || moved;
    }
    for (const box of boxes) keepInside(box, width, height);
    if (!moved) return;
  }
}

function separate(one, other) {
  const overlapX = (one.width + other.width) / 2 + GAP - Math.abs(one.x - other.x);
  const overlapY = (one.height + other.height) / 2 + GAP - Math.abs(one.y - other.y);
  if (overlapX <= 0.01 || overlapY <= 0.01) return false;
  const axis = overlapX < overlapY ? "x" : "y";
  const shift = Math.min(overlapX, overlapY) / 2;
  const direction = one[axis] < other[axis] ? -1 : 1;
  one[axis] += direction * shift;
  other[axis] -= direction * shift;
  return true;
}

function keepInside(box, width, height) {
  box.x = clamp(box.x, box.width / 2 + 2, width - box.width / 2 - 2);
  box.y = clamp(box.y, box.height / 2 + 2, height - box.height / 2 - 2);
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(value, high));
}
