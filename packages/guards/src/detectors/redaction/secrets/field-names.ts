import type { RedactionKind } from '../kinds.ts';

/** Last words of names with secret values, without blanks, dashes and case. */
const SECRET_ENDINGS: Readonly<Record<string, RedactionKind>> = {
  password: 'password',
  passwd: 'password',
  passphrase: 'password',
  passcode: 'password',
  pwd: 'password',
  passwort: 'password',
  kennwort: 'password',
  wachtwoord: 'password',
  motdepasse: 'password',
  contrasena: 'password',
  senha: 'password',
  pass: 'password',
  secret: 'api_key',
  secretkey: 'api_key',
  apikey: 'api_key',
  accesskey: 'api_key',
  accesskeyid: 'api_key',
  secretaccesskey: 'api_key',
  privatekey: 'private_key',
  signingkey: 'api_key',
  encryptionkey: 'api_key',
  authkey: 'api_key',
  accountkey: 'api_key',
  sharedaccesskey: 'api_key',
  masterkey: 'api_key',
  token: 'token',
  authtoken: 'token',
  bearer: 'token',
  jwt: 'token',
  authorization: 'token',
  authentication: 'token',
  auth: 'token',
  cookie: 'token',
  cookies: 'token',
  setcookie: 'token',
  sessionkey: 'token',
  credential: 'password',
  credentials: 'password',
  connectionstring: 'connection_string',
  databaseurl: 'connection_string',
  dsn: 'connection_string',
  cvv: 'card',
  cvc: 'card',
  cardnumber: 'card',
  creditcard: 'card',
  ssn: 'ssn',
  socialsecuritynumber: 'ssn',
};
/** Names without dashes that end so and are harmless: page cursors and counters. */
const PAGING =
  /(?:next|page|continuation|sync|cursor|resume|progress|cancellation|max|min|num|total|prompt|completion|input|output|stop|eos|bos|pad|unk|per)tokens?$/;
/** Questions about a secret, and words that happen to end like one. */
const HARMLESS =
  /^(?:is|has|no|use|needs?|requires?|show|hide|forgot|reset|with|without|allow|enable)(?=[A-Z_-])|passthrough|bypass|compass/i;

/**
 * The kind of secret that a field's name indicates; undefined for none. Any case and spelling: `X-Api_Key`,
 * `dbPassword`.
 */
export function secretKindOf(name: string, more: ReadonlySet<string>): RedactionKind | undefined {
  if (name.length > NAME_CHARS_MAX) return undefined;
  const plain = plainName(name);
  if (more.has(plain)) return 'field';
  const endings = ENDINGS.get(plain.slice(-ENDING_CHARS_MIN));
  if (endings === undefined) return undefined;
  const exact = SECRET_ENDINGS[plain];
  if (exact !== undefined) return exact;
  if (PAGING.test(plain) || HARMLESS.test(name)) return undefined;
  // The longest ending wins: `secretAccessKey` before `accessKey`.
  for (const { ending, kind } of endings) {
    if (plain.endsWith(ending) && isWholeWord(name, ending)) return kind;
  }
  return undefined;
}

/** Longer names are no real field names. */
const NAME_CHARS_MAX = 128;

/** Name without case, dashes, underscores, dots and blanks. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '');

/** None of the endings is shorter, in characters. */
const ENDING_CHARS_MIN = 3;
/** By their last characters, which few names share. */
const ENDINGS = Map.groupBy(
  Object.entries(SECRET_ENDINGS)
    .map(([ending, kind]) => ({ ending, kind }))
    .sort((a, b) => b.ending.length - a.ending.length),
  ({ ending }) => ending.slice(-ENDING_CHARS_MIN),
);

/** Short endings must begin a word of the name: `dbPass`, `db_pass`, but not `compass`. */
function isWholeWord(name: string, ending: string): boolean {
  if (ending.length > 5) return true;
  const last = name.replace(/[^A-Za-z0-9]+$/, '');
  const at = last.length - ending.length;
  if (at <= 0) return true;
  const first = last[at] as string;
  const before = last[at - 1] as string;
  return /[^A-Za-z0-9]/.test(before) || (first !== first.toLowerCase() && before === before.toLowerCase());
}
