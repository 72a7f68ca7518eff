import { KiB } from '@sallyport/std/bytes';
import { SIGN } from '../reading.ts';
import type { Family } from '../scan.ts';

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d/g;
/** Characters of a key and of its header lines; with JSON's line ends too. */
const REST = /(?:[A-Za-z0-9+/=\s:,.]|-(?!----)|\\{1,3}[nr])*/y;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const END_LINE = new RegExp(`${END.source}$`);
const PUTTY_END = 'Private-MAC:';
const PUTTY_MAC_CHARS = 80;
/** Longest key of PuTTY's, in characters. */
const PUTTY_CHARS_MAX = 8 * KiB;

/** Private keys in PEM and PuTTY format, from the first line to the last, or to the end of the text. */
export const privateKeyFamily: Family = {
  kinds: ['private_key'],
  signs: [SIGN.dash],
  find({ text, add }) {
    if (!text.includes('PRIVATE KEY') && !text.includes('PuTTY-User-Key-File-')) return;
    BEGIN.lastIndex = 0;
    for (let begin = BEGIN.exec(text); begin !== null; begin = BEGIN.exec(text)) {
      const from = BEGIN.lastIndex;
      const end = begin[0].startsWith('PuTTY') ? puttyEnd(text, from) : pemEnd(text, from);
      if (!isPlaceholder(text.slice(from, end))) add('private_key', 'private-key', begin.index, end);
      BEGIN.lastIndex = end;
    }
  },
};

/** Words, dots, or nothing where the key would be. */
function isPlaceholder(body: string): boolean {
  const shown = body
    .replace(END_LINE, '')
    .replace(/\\+[nr]/g, ' ')
    .trim();
  return (
    /^(?:[.…xX*<[${ -]*$|[<[${]|(?:[a-z]{1,20}[ .]+){2})/i.test(shown) ||
    /example|placeholder|your/i.test(shown.slice(0, 64))
  );
}

function pemEnd(text: string, from: number): number {
  REST.lastIndex = from;
  REST.test(text);
  const rest = Math.max(from, REST.lastIndex);
  END.lastIndex = rest;
  return END.test(text) ? END.lastIndex : rest;
}

function puttyEnd(text: string, from: number): number {
  const block = text.slice(from, from + PUTTY_CHARS_MAX);
  const mac = block.indexOf(PUTTY_END);
  return from + (mac < 0 ? block.length : Math.min(block.length, mac + PUTTY_MAC_CHARS));
}
