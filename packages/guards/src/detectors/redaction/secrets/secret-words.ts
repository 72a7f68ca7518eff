import type { RedactionKind } from '../kinds.ts';

/** Words in the names of secrets, each with its required letters. */
const WORDS: readonly (readonly [letters: string, said: string])[] = [
  ['pas', 'passw(?:or)?d|passwort|passphrase|passcode|(?<![a-z])passe(?![a-z])|(?<![a-z])pass(?![a-z])'],
  ['pwd', 'pwd'],
  ['pat', '(?<![a-z])pat(?![a-z])'],
  ['psk', '(?<![a-z])psk(?![a-z])'],
  ['kenwort', 'kennwort'],
  ['wachtord', 'wachtwoord'],
  ['senha', '(?<![a-z])senha(?![a-z])'],
  ['secrt', 'secret'],
  ['token', 'token'],
  ['key', 'apikey|(?<![a-z])key(?:s?$)|[a-z]key$|[_-]key(?![a-z])'],
  ['author', 'authori[sz]ation'],
  ['credntial', 'credential'],
  ['coki', 'cookie'],
  ['x-a', 'x-[\\w-]{2,20}-(?:api|auth)'],
];
const WORD = new RegExp(WORDS.map(([, said]) => said).join('|'), 'gi');
/** `password_hint`, `token_type`, `key_id`: the value is about the secret, not the secret itself. */
const ABOUT =
  /^[sS]?[_.-]?(?:hint|type|url|uri|id|name|length|len|count|field|label|policy|reset|expir\w*|path|file|file_?name|regex|pattern|version|endpoint|limit|usage|algorithm|size|prefix|bytes|max|min|manager|store|placeholder|chang\w{1,3}|encryption|hash(?:ing)?|md5|encod\w{1,3}|strength|validators?|rotation)s?(?![a-z])/i;
/** Names that end so and are harmless: page cursors and counters. */
const HARMLESS =
  /(?:next|page|continuation|sync|cursor|resume|progress|cancellation|max|min|stop|eos|bos|pad|unk)[_-]?(?:page[_-]?)?tokens?$/i;
/** Keys that are no secrets. */
const PLAIN_KEY =
  /(?:public|primary|foreign|sort|partition|cache|object|map|row|index|idempotency|unique|composite|hot|short_?cut|arrow|site|name|description|gpg|pgp|host)[_ -]?key$|public[_-]?token$/i;

/** The kind of value that the name of a variable, header or option indicates. */
export interface SecretWord {
  readonly kind: RedactionKind | 'cookie';
  /** Least length of a secret value: a name like `key` says little. */
  readonly charactersMin: number;
}

/** By the code of an ASCII character: a bit for each letter in any case, and for the dash. */
const LETTER_BITS = new Int32Array(128);
for (const [bit, letter] of [...'abcdefghijklmnopqrstuvwxyz-'].entries()) {
  LETTER_BITS[letter.charCodeAt(0)] = LETTER_BITS[letter.toUpperCase().charCodeAt(0)] = 1 << bit;
}
const LETTERS = WORDS.map(([letters]) =>
  [...letters].reduce((bits, letter) => bits | lettersOf(letter.charCodeAt(0)), 0),
);

/** The bit of a character of a name. */
export function lettersOf(code: number): number {
  return LETTER_BITS[code] ?? 0;
}

/** False when a name with these letters, in any order, indicates nothing. */
export function maySaySecret(letters: number): boolean {
  for (const wanted of LETTERS) if ((letters & wanted) === wanted) return true;
  return false;
}

/** Judges names in arbitrary texts; undefined for a name that indicates nothing. */
export function secretWordOf(name: string): SecretWord | undefined {
  WORD.lastIndex = 0;
  let last: RegExpExecArray | null = null;
  for (let match = WORD.exec(name); match !== null; match = WORD.exec(name)) last = match;
  if (last === null) return undefined;
  const word = last[0].toLowerCase();
  if (ABOUT.test(name.slice(last.index + word.length)) || HARMLESS.test(name) || PLAIN_KEY.test(name)) return undefined;
  if (word === 'cookie') return { kind: 'cookie', charactersMin: 12 };
  if (word === 'pat') return { kind: 'token', charactersMin: 20 };
  if (/pass|pwd|psk|credential|kennwort|wachtwoord|senha/.test(word)) return { kind: 'password', charactersMin: 4 };
  if (/token|authori/.test(word)) return { kind: 'token', charactersMin: 12 };
  return { kind: 'api_key', charactersMin: /^key|[a-z]key$/i.test(name) && !/api|secret|access/i.test(name) ? 24 : 12 };
}
