/** Characters counted: more add nothing. */
const ENTROPY_CHARS_MAX = 128;
/** Others are counted as the ASCII character with the same last bits. */
const CODES = 128;

/** Shannon entropy of the first characters of a text, in bits per character. */
export function entropyOf(text: string): number {
  const length = Math.min(text.length, ENTROPY_CHARS_MAX);
  const counts = new Uint8Array(CODES);
  for (let i = 0; i < length; i += 1)
    counts[text.charCodeAt(i) % CODES] = (counts[text.charCodeAt(i) % CODES] ?? 0) + 1;
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / length) * Math.log2(count / length);
  return bits;
}

/** Least entropy of a random value, in bits per character: hexadecimal has 4 at most, base64 6. */
const HEX_BITS_MIN = 2.7;
const MIXED_BITS_MIN = 3.2;

/** True when a value looks random rather than written: both letters and digits, and no character too often. */
export function looksDrawn(value: string, charactersMin: number): boolean {
  if (value.length < charactersMin || !/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[0-9a-f-]+$/i.test(value)) return entropyOf(value) >= HEX_BITS_MIN;
  return entropyOf(value) >= Math.min(MIXED_BITS_MIN, Math.log2(value.length) * 0.8) && !isWordy(value);
}

/** Words joined by dashes, dots or underscores with occasional numbers: a name, not a secret. */
function isWordy(value: string): boolean {
  const parts = value.split(/[-_./\s]+/).filter((part) => part !== '');
  return parts.length > 1 && parts.every((part) => /^(?:[A-Za-z]?[a-z]+|[A-Z]+|\d{1,4}|[a-z]{1,8}\d{1,2})$/.test(part));
}
