/** A JSON number and nothing else: no white space, sign plus, hexadecimal, leading zero. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Longer texts are not numbers that a double could hold. */
const NUMBER_LENGTH_MAX = 40;

/** Whether a value is of a JSON Schema type. */
export function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

/**
 * Converts a scalar to a type without loss, or answers undefined (VAL-02). From text only what reads the same in JSON:
 * "12" and "1e3" are numbers, " 12", "0x10", "12abc" and digits beyond a double's precision are not; "true" and "false"
 * are booleans, "1", "yes" and "" are not. A number becomes text when it is written without exponent. null converts to
 * nothing and nothing to null.
 */
export function convertScalar(value: unknown, type: string): unknown {
  if (typeof value === 'string') {
    if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : undefined;
    if (type === 'number') return numberFrom(value);
    if (type === 'integer') return integerFrom(value);
  }
  if (typeof value === 'number' && type === 'string') return textFrom(value);
  return undefined;
}

function numberFrom(text: string): number | undefined {
  if (text.length > NUMBER_LENGTH_MAX || !JSON_NUMBER.test(text)) return undefined;
  const number = Number(text);
  if (digitsOf(text) !== digitsOf(String(number))) return undefined;
  // Later code ignores the sign of zero, so it would be lost.
  return Object.is(number, -0) ? undefined : number;
}

function integerFrom(text: string): number | undefined {
  const number = numberFrom(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

function textFrom(number: number): string | undefined {
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number))) return undefined;
  const text = String(number);
  return text.includes('e') ? undefined : text;
}

/** Significant digits and exponent, so that 1e3, 1000 and 1000.0 are equal and a lost digit shows. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().replace(/^-/, '').split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
