/** Numbers as people read them, in the language of the page. */

import { locale } from "./words.js";

const MINUS = "\u2212";
const THIN = "\u202f";
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0, useGrouping: "always" });

/** A probability in per cent: whole numbers in the middle, a decimal near 0 and 1. */
export function percent(probability) {
  const hundredths = 100 * probability;
  if (hundredths < 0.1) return `<${THIN}${decimal(0.1, 1)}${THIN}%`;
  if (hundredths > 99.9) return `>${THIN}${decimal(99.9, 1)}${THIN}%`;
  const digits = hundredths < 0.95 || hundredths >= 99.5 ? 1 : 0;
  return `${decimal(hundredths, digits)}${THIN}%`;
}

/** Log-odds with their sign. */
export function signed(value, digits = 1) {
  const size = Math.abs(value).toFixed(digits);
  if (Number(size) === 0) return decimal(0, digits);
  return (value < 0 ? MINUS : "+") + decimal(Math.abs(value), digits);
}

/** A number with so many decimals. */
export function decimal(value, digits) {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, options).format(value);
}

/** A count with separators between thousands. */
export function count(value) {
  return whole.format(value);
}

/** The probability that log-odds stand for. */
export function probabilityOf(logOdds) {
  return 1 / (1 + Math.exp(-logOdds));
}
