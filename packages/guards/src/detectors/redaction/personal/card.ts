import { announced, isAlone } from '../announced.ts';
import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';

const CANDIDATE =
  /(?=\d)(?<![\w.-])(?:\d{12,19}|\d{4}([ .\u00a0\u202f\u2010-\u2013-])\d{4}\1\d{4}(?:\1\d{1,7}(?:\1\d{1,3})?)?|\d{4}([ .\u00a0\u202f\u2010-\u2013-])\d{6}\2\d{4,5})(?![\w]|[.-]\d)/g;
/** Words that announce a card number. */
const SAID =
  /\b(?:cards?|visa|master\s?card|amex|american express|diners|discover|maestro|jcb)(?: (?:number|no|num|nr|is))*\W{0,4}(?:is )?$/i;
const WORDS =
  /\b(?:cards?|credit|debit|cc|pan|visa|master\s?card|amex|american express|diners|discover|maestro|jcb|payment)\b/i;

/** Beginnings of numbers by issuer (ISO/IEC 7812-1), with the lengths they are issued in. */
const ISSUERS: readonly { readonly begins: RegExp; readonly lengths: readonly number[] }[] = [
  { begins: /^4/, lengths: [13, 16, 19] }, // Visa
  { begins: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] }, // Mastercard
  { begins: /^3[47]/, lengths: [15] }, // American Express
  { begins: /^(?:30[0-5]|3095|36|38|39)/, lengths: [14, 16, 19] }, // Diners Club
  { begins: /^(?:6011|64[4-9]|65|62|60|81|82|508)/, lengths: [16, 17, 18, 19] }, // Discover, UnionPay, RuPay
  { begins: /^35(?:2[89]|[3-8])/, lengths: [16, 17, 18, 19] }, // JCB
  { begins: /^(?:50|5[6-8]|6)/, lengths: [12, 13, 14, 15, 16, 17, 18, 19] }, // Maestro, Dankort
  { begins: /^(?:220[0-4]|9792)/, lengths: [16] }, // Mir, Troy
  { begins: /^1/, lengths: [15] }, // UATP
];
/** Lengths that hardly any other number has; others (bar codes, times, ids) need such a word. */
const PLAIN_LENGTHS: readonly number[] = [14, 15, 16];

/** Numbers of payment cards: in an issuer's range, with the right check digit; announced ones also when mistyped. */
export const cardFamily: Family = {
  kinds: ['card'],
  signs: [SIGN.digits12],
  find(scan) {
    eachMatch(CANDIDATE, scan.text, ({ index, 0: shown }) => {
      const end = index + shown.length;
      if (isCard(scan, shown, index, end)) scan.add('card', 'card', index, end);
    });
  },
};

function isCard(scan: Scan, shown: string, start: number, end: number): boolean {
  const digits = shown.replace(/\D/g, '');
  const isGrouped = digits.length !== shown.length;
  if (digits.length < 12 || digits.length > 19) return false;
  // One wrong digit leaves all the others: a number presented as a card's is treated as one.
  if ((isGrouped || PLAIN_LENGTHS.includes(digits.length)) && announced(scan, start, SAID, SAID)) return true;
  if (!isIssued(digits) || !keepsLuhn(digits) || /^(\d)\1*$/.test(digits)) return false;
  if (announced(scan, start, WORDS, WORDS)) return true;
  // Many identifiers have twelve digits, in groups of four too.
  if (digits.length === 12) return false;
  return isGrouped || PLAIN_LENGTHS.includes(digits.length) || isAlone(scan, start, end);
}

const isIssued = (digits: string): boolean =>
  ISSUERS.some(({ begins, lengths }) => lengths.includes(digits.length) && begins.test(digits));

/** ISO/IEC 7812-1 annex B. */
function keepsLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const weighted = i % 2 === 0 ? digit : digit * 2;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}
