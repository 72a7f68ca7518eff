import { createRequire } from 'node:module';
import type { CountryCode } from 'libphonenumber-js/min';
import { announced, isAlone } from '../announced.ts';
import { eachMatch } from '../each-match.ts';
import { SIGN } from '../reading.ts';
import type { Family, Scan } from '../scan.ts';
import { LABEL_FIELD, LABEL_SIGN, LABELLED, LABELLED_AFTER, LABELLED_SHORTLY, MAY_LABEL } from './phone-labels.ts';

type PhoneNumbers = typeof import('libphonenumber-js/min');

/** Most numbers of one text looked up in the numbering plans; for further ones their form decides. */
const LOOKUPS_MAX = 64;
const CANDIDATE =
  /(?=[(（+\d])(?<![\w.+@#$%(-]|\d |(?:^|[^A-Za-z\u0080-\uffff"'`])[=:/])\(?（?\+?\(?\d(?:[ .()/\u00a0（）\u2010-\u2013-]{0,3}\d){6,16}(?![\w%]|[.,:/-]\d)/g;
/** As people in North America write them. */
const NORTH_AMERICA = /^(?:1|\d{1,3}[ .-])?(?:\([2-9]\d\d\) ?\d{3}[ .-]?|[2-9]\d\d([.-])\d{3}\1?)\d{4}$/;
/** Verbs for telephones and for other things. */
const VERBS =
  /\b(?:call(?:ed|ing)?|dial|ring|reach|contact|text|ph)\b(?:\D(?!\b(?:id|code|error|order|ref)\b)){0,25}$/i;
/** A number of ten digits where a sentence says whom it calls. */
const DIALLED = /\b(?:call|text|reach|dial|ring|phone)\b\D{0,20}\b(?:at|on|to)\s$/i;
const TEN_DIGITS = /^1?[2-9]\d\d[2-9]\d{6}$/;
/** Groups of digits in a number by itself. */
const GROUPS_MAX = 5;
/** `my number is`, but not `the order number is`. */
const NUMBER_WORDS =
  /(?<!\b(?:account|order|invoice|tracking|reference|ref|id|ticket|serial|confirmation|case|booking|policy|member|part|model|version|card|flight|item|issue|line|port|page|bank|customer|registration|plate|licen[cs]e|passport)\s)\bnumber(?:\sis|:|\s=)\s*$/i;
/** Regions whose national number format is recognised without such a word. */
const REGIONS: readonly CountryCode[] = ['US', 'GB', 'DE', 'FR', 'IN', 'IL', 'CN', 'BR', 'TR', 'PH', 'IT', 'ES', 'AU'];

let loaded: PhoneNumbers | undefined;

/** Telephone numbers: international ones by the numbering plan, others by their form and the preceding words. */
export const phoneFamily: Family = {
  kinds: ['phone'],
  signs: [SIGN.digits7],
  find(scan) {
    let lookups = 0;
    eachMatch(CANDIDATE, scan.text, ({ index, 0: candidate }) => {
      if (!isFree(scan.text, index)) return;
      const shown = balanced(candidate);
      const start = index + candidate.indexOf(shown);
      const judge = lookups < LOOKUPS_MAX ? byPlan : byShape;
      lookups += 1;
      if (isPhone(scan, shown, start, judge)) scan.add('phone', 'phone', start, start + shown.length);
    });
  },
};

/** Characters before a number in which a label with its sign is looked for. */
const LABEL_CHARS = 32;
/** As far as a label may be before a number. */
const MAY_LABEL_CHARS = 40;
/** A short word needs one directly before the number. */
const SIGN_BEFORE = /[:：.)]\s{0,2}$/;

/** After a sign of a program, an address or a time a number is no telephone's, but for `tel:030…`. */
function isFree(text: string, at: number): boolean {
  if (at === 0 || !/[=:/]/.test(text.charAt(at - 1))) return true;
  return LABEL_SIGN.test(text.slice(Math.max(0, at - LABEL_CHARS), at));
}

/** A bracket before the number belongs to the sentence unless it closes within the number. */
const balanced = (shown: string): string => (/^[(（]/.test(shown) && !/[)）]/.test(shown) ? shown.slice(1) : shown);

function isPhone(scan: Scan, shown: string, start: number, judge: Judge): boolean {
  const digits = shown.replace(/\D/g, '');
  if (digits.length > 15 || /^0+$/.test(digits) || looksLikeDate(shown)) return false;
  // After a label, a number that no plan knows was mistyped.
  if (/^\(?\+/.test(shown))
    return digits.length >= 8 && (judge(shown, undefined) || announced(scan, start, LABELLED, LABEL_FIELD));
  if (NORTH_AMERICA.test(shown)) return true;
  if (hasWords(scan, start) && announced(scan, start, LABELLED, LABEL_FIELD)) return !isAmount(scan.text, start, shown);
  const isCut = shown.length > digits.length;
  if ((isCut || /^\(?0[1-9]/.test(shown)) && isLabelledLoosely(scan, start, shown)) return true;
  if (isCut && announced(scan, start, VERBS, undefined)) return true;
  if (TEN_DIGITS.test(shown) && announced(scan, start, DIALLED, undefined)) return true;
  if (announced(scan, start, NUMBER_WORDS, undefined))
    return (isCut ? allRegions() : REGIONS).some((region) => judge(shown, region));
  const isWritten = digits.length >= 10 && (/^\(?0[1-9]/.test(shown) || shown.length > digits.length + 1);
  if (!isWritten || (shown.match(/\d+/g) ?? []).length > GROUPS_MAX || !isAlone(scan, start, start + shown.length))
    return false;
  // A bare address also looks like a formatted number; asking the numbering plans of all regions is slow.
  return !scan.isFound(start, start + shown.length) && REGIONS.some((region) => judge(shown, region));
}

/** False where no label can stand before a number. */
const hasWords = ({ text, name }: Scan, start: number): boolean =>
  name !== '' || MAY_LABEL.test(text.slice(Math.max(0, start - MAY_LABEL_CHARS), start));

/** `a mobile network of 1.234.567 users`: an amount, unless a sign stands before it. */
const isAmount = (text: string, start: number, shown: string): boolean =>
  /^\d{1,3}(?:\.\d{3}){2,4}$/.test(shown) && !/[:：.#]\s?$/.test(text.slice(Math.max(0, start - 2), start));

const isLabelledLoosely = (scan: Scan, start: number, shown: string): boolean =>
  (SIGN_BEFORE.test(scan.text.slice(Math.max(0, start - 3), start)) &&
    announced(scan, start, LABELLED_SHORTLY, undefined)) ||
  LABELLED_AFTER.test(scan.text.slice(start + shown.length, start + shown.length + LABEL_CHARS));

/** True when a number could belong to this region; without a region, by its country code. */
type Judge = (shown: string, region: CountryCode | undefined) => boolean;

const byPlan: Judge = (shown, region) => phoneNumbers().parsePhoneNumberFromString(shown, region)?.isValid() === true;
const byShape: Judge = () => true;

/** Dates, times and ranges of years have as many digits. */
const looksLikeDate = (shown: string): boolean =>
  /^(?:19|20)\d\d[-./ ]?(?:0[1-9]|1[0-2])[-./ ]?(?:0[1-9]|[12]\d|3[01])(?!\d)|^\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|^(?:19|20)\d\d ?- ?(?:19|20)\d\d$/.test(
    shown,
  );

const allRegions = (): readonly CountryCode[] => phoneNumbers().getCountries();

/** The numbering plans take tens of milliseconds to load, and most texts need none. */
function phoneNumbers(): PhoneNumbers {
  loaded ??= createRequire(import.meta.url)('libphonenumber-js/min') as PhoneNumbers;
  return loaded;
}
