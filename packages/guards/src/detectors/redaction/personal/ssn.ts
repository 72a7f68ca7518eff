import { announced, isAlone } from '../announced.ts';
import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';

const FORMATTED = /(?=\d)(?<![\w.-])(\d{3})([- .\u00a0\u2010-\u2013])(\d{2})\2(\d{4})(?![\w-]|\.\d)/g;
/** Nine digits, unseparated or in an unusual grouping; only when announced, or alone. */
const UNFORMATTED = /(?=\d)(?<![\w.-])(?:\d{9}|\d{3}-\d{6}|\d{5}-\d{4})(?![\w-]|\.\d)/g;
const WORDS = /\b(?:ssns?|social[\s-]?security|soc[\s.-]{1,2}sec|tax[\s-]?payer)\b/i;
/** Published numbers, which nobody has. */
const PUBLISHED = new Set(['078051120', '219099999']);
/** The example of every text book; a real number only when announced. */
const EXAMPLE = '123456789';
/** Numbers that may be in one text without any other word. */
const LIST = /^\s*(?:[\d-]{9,11}\s*){1,8}$/;

/** Social security numbers of the United States, by the rules for numbers since 2011 (SSA POMS RM 10201.035). */
export const ssnFamily: Family = {
  kinds: ['ssn'],
  signs: [SIGN.digits9],
  find(scan) {
    const { text, name, add } = scan;
    eachMatch(FORMATTED, text, (match) => {
      const end = match.index + match[0].length;
      const digits = `${match[1]}${match[3]}${match[4]}`;
      if (isIssued(digits) && (!/\s/.test(match[2] ?? '') || standsFree(text, match.index, end))) {
        add('ssn', 'ssn', match.index, end);
      }
    });
    const isList = name === '' && text.length < 100 && LIST.test(text);
    eachMatch(UNFORMATTED, text, (match) => findUnformatted(scan, match, isList));
  },
};

function findUnformatted(scan: Scan, match: RegExpExecArray, isList: boolean): void {
  const end = match.index + match[0].length;
  const digits = match[0].replaceAll('-', '');
  if (!isIssued(digits)) return;
  const said = announced(scan, match.index, WORDS, WORDS);
  const alone = digits !== EXAMPLE && (isList || isAlone(scan, match.index, end));
  if (said || alone) scan.add('ssn', 'ssn-unformatted', match.index, end);
}

function isIssued(digits: string): boolean {
  const area = Number(digits.slice(0, 3));
  if (area === 0 || area === 666 || area >= 900) return false;
  return (
    digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000' && !PUBLISHED.has(digits) && !/^(\d)\1*$/.test(digits)
  );
}

/** In a row of numbers any three may look like one. */
function standsFree(text: string, start: number, end: number): boolean {
  return !/\d\s$/.test(text.slice(Math.max(0, start - 2), start)) && !/^\s\d/.test(text.slice(end, end + 2));
}
