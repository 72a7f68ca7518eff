// Examines only the signs that assign a value to a name, which are few.
import { eachMark, SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';
import { nameBefore } from './name-before.ts';
import { isPassword } from './password.ts';
import { isExampleToken, isPlaceholder } from './placeholder.ts';
import { looksDrawn } from './randomness.ts';
import { type SecretWord, secretWordOf } from './secret-words.ts';

/** Longest line of cookies examined, in characters. */
const LINE_CHARS_MAX = 4096;
const REGISTRY_CHARS_MAX = 300;
const COOKIE_CHARS_MIN = 12;

const AFTER_SIGN = /[=:>]{0,2}(?:(?!\n\s{0,3}\n)\s){0,3}(?:[rbuf](?=["']))?(\\?["'`]|)/iy;
/** The part of a value that is judged, and the whole secret. */
const QUOTED = { judged: /[^"'`\\\n]{1,256}/y, whole: /[^"'`\\\n]{1,8192}/y };
/**
 * `=` only at the end of what is judged, as padding: a chain of assignments is several values. An ampersand belongs to the
 * whole unless another pair of a form begins after it, or it is one of a shell or of HTML.
 */
const PLAIN = {
  judged: /[^\s"'`,;)}\]<>|&\\=]{1,256}={0,2}/y,
  whole: /(?:[^\s"'`,;)}\]<>|&\\]|(?<!&)&(?!&|amp;|\s|$|[\w.%[\]-]{1,64}=)){1,8192}/y,
};
/** What keys and tokens are written with (RFC 6750 §2.1), and what joins parts of them. */
const TOKEN = /^[A-Za-z0-9._~+/=:!-]+$/;
/** The scheme in front of what authorises (RFC 9110 §11.1). */
const SCHEME = /(?:Bearer|Basic|Token|Api-?Key|Digest|Negotiate|Splunk|SSWS|Bot|OAuth|JWT|Key|GenieKey)\s{1,3}/iy;
const OPTION = /--([\w-]{2,64})\s/y;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Values of names that indicate a secret: `password = "…"`, `Authorization: Bearer …`, `--api-key …`. */
export const assignedFamily: Family = {
  kinds: ['password', 'token', 'api_key'],
  signs: [SIGN.equals, SIGN.colon, SIGN.blank, SIGN.dash, SIGN.dense],
  find(scan) {
    const { text, reading } = scan;
    const { signs } = reading;
    if ((signs & SIGN.equals) !== 0) eachMark(reading, '=', (at) => findValue(scan, at, at + 1));
    if ((signs & SIGN.colon) !== 0) eachMark(reading, ':', (at) => findValue(scan, at, at + 1));
    if ((signs & SIGN.blank) !== 0) eachIs(text, (at) => findValue(scan, at, at + 4));
    if ((signs & SIGN.dash) !== 0) eachOption(text, (at) => findOption(scan, at));
    if ((signs & SIGN.dense) !== 0) findNamed(scan);
  },
};

/** @param visit returns the position up to which nothing else needs to be searched */
function eachIs(text: string, visit: (at: number) => number): void {
  // Searches start from the first character of the needle: a blank would be far too frequent.
  for (let at = text.indexOf('is ', 1); at > 0; ) {
    const until = text[at - 1] === ' ' ? visit(at - 1) : at;
    at = text.indexOf('is ', until + 1);
  }
}

function eachOption(text: string, visit: (at: number) => number): void {
  for (let at = text.indexOf('--'); at >= 0; ) at = text.indexOf('--', Math.max(visit(at), at + 2));
}

function findOption(scan: Scan, at: number): number {
  OPTION.lastIndex = at;
  return OPTION.test(scan.text) ? findValue(scan, OPTION.lastIndex - 1, OPTION.lastIndex) : at;
}

/** @param at end of the name @param from earliest start of the value */
function findValue({ text, reading, add }: Scan, at: number, from: number): number {
  const name = nameBefore(text, reading.codes, at);
  const word = name === '' ? undefined : secretWordOf(name);
  if (word === undefined) return from;
  AFTER_SIGN.lastIndex = from;
  const isQuoted = (AFTER_SIGN.exec(text)?.[1] ?? '') !== '';
  const start = afterScheme(text, AFTER_SIGN.lastIndex);
  if (word.kind === 'cookie') return findCookie(text, start, add);
  const { judged, whole } = isQuoted ? QUOTED : PLAIN;
  const value = trimmed(taken(judged, text, start));
  const isExample = word.kind === 'password' ? isPlaceholder : isExampleToken;
  // The name of the next line: this one is empty.
  if (value.endsWith('=') && /\n/.test(text.slice(from, start))) return from;
  if (!isSecret(word, value, isQuoted) || isExample(value) || isTemplate(name, value, text, at)) return from;
  const end = start + Math.max(value.length, trimmed(taken(whole, text, start)).length);
  add(word.kind, `assigned-${word.kind.replace('_', '-')}`, start, end);
  return end;
}

/** Shortest random value that a blank alone joins to its name, in characters. */
const NAMED_CHARS_MIN = 20;
/** Names that say it without a sign: `api key`, `SECRET`; a single `key` may be any. */
const NAMED =
  /(?:(?:[Aa]pi|API|[Aa]ccess|ACCESS|[Ss]ecret|[Pp]rivate|[Aa]uth)[ _-]?[Kk]ey|KEY|[Tt]oken|TOKEN|[Ss]ecret|SECRET|[Pp]assword|PASSWORD|passwd)$/;
const BLANK_CODE = 32;

/** Random values after a name and a blank: `API key 9f86d081…`, `machine host login ann password 7cc9…`. */
function findNamed({ text, reading: { codes, dense }, add }: Scan): void {
  for (let i = 0; i < dense.length; i += 2) {
    const start = dense[i] as number;
    if ((dense[i + 1] as number) - start < NAMED_CHARS_MIN || codes[start - 1] !== BLANK_CODE) continue;
    const name = nameBefore(text, codes, start - 1);
    if (!NAMED.test(name)) continue;
    const word = secretWordOf(name);
    const value = trimmed(text.slice(start, dense[i + 1]));
    if (word === undefined || word.kind === 'cookie' || !/^(?!0x)[\w+/=-]+$/.test(value)) continue;
    const rest = value.slice(value.lastIndexOf('-') + 1);
    if (!looksDrawn(value, NAMED_CHARS_MIN) || isExampleToken(value) || isExampleToken(rest)) continue;
    add(word.kind, `named-${word.kind.replace('_', '-')}`, start, start + value.length);
  }
}

function taken(shape: RegExp, text: string, start: number): string {
  shape.lastIndex = start;
  return shape.exec(text)?.[0] ?? '';
}

/** Punctuation at the end of a sentence is not part of its last word; several dots stand for what was left out. */
const trimmed = (value: string): string => (/(?<!\.)[.,:]$/.test(value) ? value.slice(0, -1) : value);

const isSecret = ({ kind, charactersMin }: SecretWord, value: string, isQuoted: boolean): boolean =>
  kind === 'password' ? isPassword(value, isQuoted) : looksDrawn(value, charactersMin) && TOKEN.test(value);

/** In `.npmrc`, a line without the token's registry is a template to be filled in. */
const isTemplate = (name: string, value: string, text: string, at: number): boolean =>
  name.endsWith('_authToken') &&
  UUID.test(value) &&
  !/\/\/[\w.-]{1,200}(?::\d{1,5})?\/[^\s]{0,200}:_authToken\s{0,3}$/.test(
    text.slice(Math.max(0, at - REGISTRY_CHARS_MAX), at),
  );

function afterScheme(text: string, start: number): number {
  SCHEME.lastIndex = start;
  return SCHEME.test(text) ? SCHEME.lastIndex : start;
}

/** All cookies of a line, when one of them may be a credential. */
function findCookie(text: string, start: number, add: Scan['add']): number {
  const line = text.slice(start, start + LINE_CHARS_MAX).split(/[\r\n"'`]/, 1)[0] ?? '';
  const hasSecret = line.split(';').some((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && looksDrawn(pair.slice(at + 1).trim(), COOKIE_CHARS_MIN);
  });
  if (hasSecret) add('token', 'cookie', start, start + line.length);
  return start + line.length;
}
