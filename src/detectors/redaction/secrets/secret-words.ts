import type { RedactionKind } from '../kinds.ts';

const WORD =
  /passw(?:or)?d|passphrase|passcode|(?<![a-z])pass(?![a-z])|pwd|secret|token|apikey|(?<![a-z])key(?:s?$)|[a-z]key$|[_-]key(?![a-z])|authori[sz]ation|credential|cookie|x-[\w-]{2,20}-(?:api|auth)/gi;
/** `password_hint`, `token_type`, `key_id`: what the name is about is not the secret itself. */
const ABOUT =
  /^[sS]?[_.-]?(?:hint|type|url|uri|id|name|length|len|count|field|label|policy|reset|expir\w*|path|file|file_?name|regex|pattern|version|endpoint|limit|usage|algorithm|size|prefix|bytes|max|min|manager|store|placeholder)s?(?![a-z])/i;
/** Names that end so and are none: what pages are turned with, and what counts. */
const HARMLESS =
  /(?:next|page|continuation|sync|cursor|resume|progress|cancellation|max|min|stop|eos|bos|pad|unk)[_-]?(?:page[_-]?)?tokens?$/i;
/** Keys that open nothing. */
const PLAIN_KEY =
  /(?:public|primary|foreign|sort|partition|cache|object|map|row|index|idempotency|unique|composite|hot|short_?cut|arrow|site)[_ -]?key$/i;

/** What the name of a variable, header or option says about its value. */
export interface SecretWord {
  readonly kind: RedactionKind | 'cookie';
  /** Fewest characters of a value that can be one: a name like `key` says little. */
  readonly charactersMin: number;
}

/** Judges names in texts, where they may be anything; undefined for those that say nothing. */
export function secretWordOf(name: string): SecretWord | undefined {
  WORD.lastIndex = 0;
  let last: RegExpExecArray | null = null;
  for (let match = WORD.exec(name); match !== null; match = WORD.exec(name)) last = match;
  if (last === null) return undefined;
  const word = last[0].toLowerCase();
  if (ABOUT.test(name.slice(last.index + word.length)) || HARMLESS.test(name) || PLAIN_KEY.test(name)) return undefined;
  if (word === 'cookie') return { kind: 'cookie', charactersMin: 12 };
  if (/pass|pwd|credential/.test(word)) return { kind: 'password', charactersMin: 4 };
  if (/token|authori/.test(word)) return { kind: 'token', charactersMin: 12 };
  return { kind: 'api_key', charactersMin: /^key|[a-z]key$/i.test(name) && !/api|secret|access/i.test(name) ? 24 : 12 };
}
