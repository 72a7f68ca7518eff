import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family } from '../scan.ts';
import { isPassword } from './password.ts';
import { isExampleToken } from './placeholder.ts';
import { looksDrawn } from './randomness.ts';

/** An element of XML whose name says that its text is a secret. */
const ELEMENT =
  /<(?:[\w.-]{1,24}:)?[\w.-]{0,40}?(password|passwd|passphrase|secret|token|api[_-]?key)>\s{0,8}([^<>\s]{4,256})\s{0,8}<\//gi;
/** The line of a `.netrc`. */
const LOGIN = /\blogin\s{1,4}\S{1,128}\s{1,8}password\s{1,4}([^\s'"`]{4,256})/g;
/** Options of programs that take a password right after a letter, or as the next word. */
const OPTION =
  /(?:\bsshpass\s{1,3}-p\s{0,3}|\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;&]{0,120}?\s-p)(["']?)([^\s"'|;&$<]{4,128})/g;
/** A pair of name and password, encoded, as in the settings of a container client. */
const ENCODED = /\\?"auth\\?"\s{0,4}:\s{0,4}\\?"([A-Za-z0-9+/]{12,512}={0,2})\\?"/g;
const TOKEN_CHARS_MIN = 12;

/** Secrets in the notation of one program or format, where no sign assigns them. */
export const writtenPairsFamily: Family = {
  kinds: ['password', 'token'],
  signs: [SIGN.angle | SIGN.slash, SIGN.blank | SIGN.small, SIGN.colon],
  find({ text, reading: { signs }, add }) {
    if ((signs & SIGN.angle) !== 0 && text.includes('</')) {
      eachMatch(ELEMENT, text, ({ index, 0: shown, 1: word = '', 2: value = '' }) => {
        const isWord = /^pass/i.test(word);
        const isSecret = isWord
          ? isPassword(value, true)
          : looksDrawn(value, TOKEN_CHARS_MIN) && !isExampleToken(value);
        if (!isSecret) return;
        const start = index + shown.indexOf(value, shown.indexOf('>'));
        add(isWord ? 'password' : 'token', 'element', start, start + value.length);
      });
    }
    if (text.includes('login ')) addLast(LOGIN, text, 'login', add);
    // A dash is rarer than a blank, where a search begins.
    if ((signs & SIGN.dash) !== 0 && text.includes('-p') && text.includes(' -p'))
      addLast(OPTION, text, 'password-option', add);
    if ((signs & SIGN.colon) === 0 || !text.includes('"auth')) return;
    eachMatch(ENCODED, text, ({ index, 0: shown, 1: value = '' }) => {
      const end = index + shown.lastIndexOf(value) + value.length;
      if (/^[\x21-\x7e]{1,128}:[\x20-\x7e]{4,}$/.test(Buffer.from(value, 'base64').toString('latin1')))
        add('password', 'encoded-pair', end - value.length, end);
    });
  },
};

type Add = (kind: 'password', rule: string, start: number, end: number) => void;

function addLast(pattern: RegExp, text: string, rule: string, add: Add): void {
  eachMatch(pattern, text, (found) => {
    const value = found.at(-1) ?? '';
    const end = found.index + found[0].length;
    if (isPassword(value, true)) add('password', rule, end - value.length, end);
  });
}
