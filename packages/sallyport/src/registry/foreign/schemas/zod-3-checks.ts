/** One check in the `_def` of a string or number of zod 3. */
export interface Zod3Check {
  readonly kind: string;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly regex?: RegExp;
}

/** Formats with the same meaning on both sides. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  datetime: 'date-time',
  date: 'date',
  duration: 'duration',
};

/** Keywords for the checks of a string; checks that JSON Schema cannot express are left to the validation itself. */
export function stringKeywords(checks: readonly Zod3Check[]): Record<string, unknown> {
  const keywords: Record<string, unknown> = {};
  const patterns: string[] = [];
  for (const { kind, value, regex } of checks) {
    const format = FORMATS[kind];
    if (format !== undefined) keywords['format'] = format;
    if (kind === 'min' || kind === 'length') keywords['minLength'] = value;
    if (kind === 'max' || kind === 'length') keywords['maxLength'] = value;
    // "unicode" is the only flag with the same meaning in JSON Schema patterns.
    if (kind === 'regex' && regex !== undefined && /^[gu]*$/.test(regex.flags)) patterns.push(regex.source);
    if (kind === 'startsWith') patterns.push(`^${escaped(String(value))}`);
    if (kind === 'endsWith') patterns.push(`${escaped(String(value))}$`);
    if (kind === 'includes') patterns.push(escaped(String(value)));
  }
  const [first, ...rest] = patterns;
  if (first !== undefined) keywords['pattern'] = first;
  if (rest.length > 0) keywords['allOf'] = rest.map((pattern) => ({ pattern }));
  return keywords;
}

/** Keywords for the checks of a number. */
export function numberKeywords(checks: readonly Zod3Check[]): Record<string, unknown> {
  const keywords: Record<string, unknown> = {};
  for (const { kind, value, inclusive } of checks) {
    if (kind === 'int') keywords['type'] = 'integer';
    if (kind === 'min') keywords[inclusive === false ? 'exclusiveMinimum' : 'minimum'] = value;
    if (kind === 'max') keywords[inclusive === false ? 'exclusiveMaximum' : 'maximum'] = value;
    if (kind === 'multipleOf') keywords['multipleOf'] = value;
  }
  return keywords;
}

/** Escapes only characters with a meaning in patterns: with "unicode" on, a needless escape is an error. */
const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
