/** Decimal places that are worked with; a factor with more is compared by division. */
const PLACES_MAX = 400;

/**
 * Whether a number is a whole multiple of a factor, as both are written in decimal: 19.99 is a multiple of 0.01, though
 * dividing their binary forms leaves a rest. Both are finite.
 */
export function isMultipleOf(number: number, factor: number): boolean {
  if (Number.isSafeInteger(number) && Number.isSafeInteger(factor)) return number % factor === 0;
  const [a, b] = [decimalOf(number), decimalOf(factor)];
  const places = Math.max(a.places, b.places);
  if (places > PLACES_MAX) return Number.isInteger(number / factor);
  return (a.digits * 10n ** BigInt(places - a.places)) % (b.digits * 10n ** BigInt(places - b.places)) === 0n;
}

/** `digits` times ten to the power of minus `places`. */
function decimalOf(number: number): { readonly digits: bigint; readonly places: number } {
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}
