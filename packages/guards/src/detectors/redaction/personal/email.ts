import { PART, PARTS } from '../characters.ts';
import { eachMatch } from '../each-match.ts';
import { eachMark, SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';

/** Longest local part and longest domain, in characters (RFC 5321 §4.5.3.1). */
const LOCAL_CHARS_MAX = 64;
const DOMAIN_CHARS_MAX = 253;

const TOP_LEVEL = /^(?:[a-z\u00C0-\u024F\u0370-\u04FF]{2,24}|xn--[a-z0-9-]{2,59})$/i;
/** `picture@2x.png` is a file name. */
const FILE_ENDINGS = /^(?:png|jpe?g|gif|svg|webp|ico|bmp|pdf|js|mjs|ts|tsx|jsx|css|json|html?|md|py|rb|go|rs|zip|gz)$/i;

/** Mail addresses with a plausible domain. */
export const emailFamily: Family = {
  kinds: ['email'],
  signs: [SIGN.at | SIGN.dot, SIGN.hiding | SIGN.small],
  find(scan) {
    eachMark(scan.reading, '@', (at) => {
      findAround(scan, at);
      return at;
    });
    if ((scan.reading.signs & SIGN.hiding) !== 0) findWritten(scan);
  },
};

/** An address as forms of the web encode it, or as people hide it: `ann%40example.com`, `ann [at] example [dot] com`. */
const WRITTEN =
  /(?<![\w%+-])[\w.+-]{1,64}(?:%40|\s?[[({]\s?at\s?[\])}]\s?)(?:[a-z0-9-]{1,63}(?:\.|\s?[[({]\s?dot\s?[\])}]\s?)){1,4}([a-z]{2,24})(?![\w-])/gi;

const MAY_BE_WRITTEN = /[[({]\s?at\s?[\])}]|%40/i;

function findWritten({ text, add }: Scan): void {
  if (!MAY_BE_WRITTEN.test(text)) return;
  eachMatch(WRITTEN, text, ({ index, 0: shown, 1: top = '' }) => {
    const at = index + shown.search(/%40|[[({]/);
    if (!FILE_ENDINGS.test(top) && !isRemote(text, index, at))
      add('email', 'email-written', index, index + shown.length);
  });
}

function findAround({ text, reading: { codes, length }, add }: Scan, at: number): void {
  const isIn = (part: number, place: number): boolean => ((PARTS[codes[place] as number] as number) & part) !== 0;
  let start = at;
  while (start > 0 && at - start < LOCAL_CHARS_MAX && isIn(PART.mailbox, start - 1)) start -= 1;
  while (start < at && /[.'%-]/.test(text[start] as string)) start += 1;
  let end = at + 1;
  while (end < length && end - at <= DOMAIN_CHARS_MAX && isIn(PART.domain, end)) end += 1;
  while (end > at && /[.-]/.test(text[end - 1] as string)) end -= 1;
  if (start === at || isRemote(text, start, at)) return;
  const domain = endsAtDash(text.slice(at + 1, end));
  if (isDomain(domain)) add('email', 'email', start, at + 1 + domain.length);
}

/** How far back the start of a URL is searched, in characters. */
const URL_CHARS_MAX = 200;

/** `git@host.example` and user names in URLs name a server, not a person. */
function isRemote(text: string, start: number, at: number): boolean {
  if (text.slice(start, at) === 'git') return true;
  return /:\/\/[^\s/?#@]*$/.test(text.slice(Math.max(0, start - URL_CHARS_MAX), start));
}

/** Top-level domains have no dash, except those in other scripts: the rest is not part of the address. */
function endsAtDash(domain: string): string {
  const top = domain.lastIndexOf('.') + 1;
  const dash = domain.indexOf('-', top);
  return dash < 0 || domain.startsWith('xn--', top) ? domain : domain.slice(0, dash);
}

function isDomain(domain: string): boolean {
  const labels = domain.split('.');
  const top = labels.at(-1) ?? '';
  if (labels.length < 2 || !TOP_LEVEL.test(top) || FILE_ENDINGS.test(top)) return false;
  return labels.every((label) => label.length > 0 && label.length <= 63 && !label.startsWith('-'));
}
