/** Closed list of kinds. `field` is a value that only the name of its field identifies. */
export const REDACTION_KINDS = [
  'email',
  'phone',
  'ssn',
  'card',
  'iban',
  'ip',
  'field',
  'private_key',
  'token',
  'api_key',
  'password',
  'connection_string',
  'path',
] as const;

/** One kind of sensitive text. */
export type RedactionKind = (typeof REDACTION_KINDS)[number];

/** Default kinds: all but paths, which are rarely sensitive and mostly common. */
export const DEFAULT_REDACTION_KINDS: readonly RedactionKind[] = REDACTION_KINDS.filter((kind) => kind !== 'path');

/** The six groups that a filter names its patterns by (MOD-06). */
export type PatternCategory = 'secrets' | 'tokens' | 'keys' | 'credentials' | 'paths' | 'personal';

/** Kinds of each group. Every kind is in exactly one. */
export const KINDS_BY_CATEGORY: Readonly<Record<PatternCategory, readonly RedactionKind[]>> = {
  secrets: ['password', 'field'],
  tokens: ['token'],
  keys: ['api_key', 'private_key'],
  credentials: ['connection_string'],
  paths: ['path'],
  personal: ['email', 'phone', 'ssn', 'card', 'iban', 'ip'],
};
