/** Numbers as people read them. */

const MINUS = "\u2212";
const THIN = "\u202f";
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0, useGrouping: true });

/** A probability in per cent: whole numbers in the middle, a decimal near 0 and 1. */
export function percent(probability) {
  const hundredths = 100 * probability;
  if (hundredths < 0.1) return `<${THIN}0.1${THIN}%`;
  if (hundredths > 99.9) return `>${THIN}99.9${THIN}%`;
  const digits = hundredths < 0.95 || hundredths >= 99.5 ? 1 : 0;
  return `${hundredths.toFixed(digits)}${THIN}%`;
}

/** Log-odds with their sign. */
export function signed(value, digits = 1) {
  const size = Math.abs(value).toFixed(digits);
  if (Number(size) === 0) return size;
  return (value < 0 ? MINUS : "+") + size;
}

/** A count with separators between thousands. */
export function count(value) {
  return whole.format(value);
}

/** "1 document", "2 documents". */
export function counted(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** The probability that log-odds stand for. */
export function probabilityOf(logOdds) {
  return 1 / (1 + Math.exp(-logOdds));
}
