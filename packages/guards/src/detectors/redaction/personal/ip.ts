import { isIPv6 } from 'node:net';
import { PART, PARTS } from '../characters.ts';
import { eachMatch } from '../each-match.ts';
import { eachMark, SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';

/** Longest text of an IPv6 address with an IPv4 one in it, in characters. */
const V6_CHARS_MAX = 45;

const V4 =
  /(?=\d)(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w]|\.\d|-[A-Za-z])(?:\/(?:3[0-2]|[12]?\d)(?!\d))?/g;
/** Contexts in which four numbers are a version: `version 1.2.3.4`, `Browser/1.2.3.4`, `==1.2.3.4`. */
const VERSION_BEFORE =
  /(?:\b(?:versions?|ver|release|build|section|chapter|clause)\.?:?\s{0,3}|[A-Za-z]\/|[=<>~!]=\s?|(?<![^\s"'(,|])[\^~]\s?|@|§\s?)$/i;
const VERSION_REACH_CHARS = 12;

const ZONE = /%[A-Za-z0-9_.-]{1,32}/y;
const PREFIX_LENGTH = /\/(?:12[0-8]|1[01]\d|\d{1,2})(?!\d)/y;
/** `IPv6:` before an address: its 6 would be taken as part of it. */
const LABEL_BEFORE = /ipv$/i;

/** IPv4 addresses in dotted form, with a prefix length where one is given. */
export const ipV4Family: Family = {
  kinds: ['ip'],
  signs: [SIGN.dot | SIGN.digits4],
  find({ text, add }) {
    eachMatch(V4, text, (match) => {
      const { index } = match;
      if (match.slice(1, 5).some((octet) => Number(octet) > 255)) return;
      if (VERSION_BEFORE.test(text.slice(Math.max(0, index - VERSION_REACH_CHARS), index))) return;
      add('ip', 'ip-v4', index, index + match[0].length);
    });
  },
};

/** IPv6 addresses in every form of RFC 4291 §2.2, with zone and prefix length. */
export const ipV6Family: Family = {
  kinds: ['ip'],
  signs: [SIGN.colon],
  find(scan) {
    const { codes, length } = scan.reading;
    eachMark(scan.reading, ':', (colon) => {
      let colons = 1;
      let end = colon + 1;
      for (; end < length && isInV6(codes[end] as number); end += 1) if (codes[end] === COLON) colons += 1;
      if (colons < COLONS_MIN) return end;
      let start = colon;
      while (start > 0 && colon - start < V6_CHARS_MAX && isInV6(codes[start - 1] as number)) start -= 1;
      judgeV6(scan, start, end);
      return end;
    });
  },
};

const COLON = 58;
/** Number of colons in the shortest address, `::`. */
const COLONS_MIN = 2;
const isInV6 = (code: number): boolean => ((PARTS[code] as number) & PART.address) !== 0;

function judgeV6({ text, add }: Scan, from: number, to: number): void {
  let start = from;
  let end = to;
  if (text[start] === ':' && text[start + 1] !== ':') start += 1;
  if (text[start] === '6' && text[start + 1] === ':' && LABEL_BEFORE.test(text.slice(Math.max(0, start - 3), start)))
    start += 2;
  while (text[end - 1] === '.' || (text[end - 1] === ':' && text[end - 2] !== ':')) end -= 1;
  if (end - start < 2 || end - start > V6_CHARS_MAX) return;
  if (isWord(text[start - 1]) || isWord(text[end]) || isSlice(text, start)) return;
  const address = text.slice(start, end);
  if (!isIPv6(address) || !isMeant(text, address, end)) return;
  add('ip', 'ip-v6', start, withSuffix(text, end));
}

/** `::` has other meanings in code and markup; letters alone may be names. */
function isMeant(text: string, address: string, end: number): boolean {
  if (address === '::') return end === text.length || text[end - 3] === '=' || /^\/\d/.test(text.slice(end, end + 2));
  return /\d/.test(address);
}

function withSuffix(text: string, end: number): number {
  let at = end;
  for (const suffix of [ZONE, PREFIX_LENGTH]) {
    suffix.lastIndex = at;
    if (suffix.test(text)) at = suffix.lastIndex;
  }
  while (text[at - 1] === '.') at -= 1;
  return at;
}

/** `list[1::2]`: a bracket directly after a name opens an index. */
function isSlice(text: string, start: number): boolean {
  return text[start - 1] === '[' && /[\w\])]/.test(text[start - 2] ?? '');
}

const isWord = (character: string | undefined): boolean => character !== undefined && /[\w]/.test(character);
