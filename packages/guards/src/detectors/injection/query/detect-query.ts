import type { Report } from '../finding.ts';
import type { Reading } from '../text/reading.ts';
import { SIGN } from '../text/signs.ts';

const OPERATORS = '\\$(?:or|and|nor|not|ne|gte?|lte?|n?in|eq|regex|where|exists|expr|function)\\b';
/** A quote ends the string around the value, and script of a document store follows. */
const SCRIPT =
  /^[^'"\n]{0,64}["']\s{0,4}(?:;|&&|\|\||\))\s{0,4}(?:this\.\w|return\s?(?:;|true\b|false\b|this\.|db\.|[\d!({])|(?:var|let)\s+\w{1,32}\s?=|\w{1,32}\s?=\s?new\s+\w|(?:sleep|tojson|db\.\w{1,32}(?:\.\w{1,32})?)\s?\(|(?:\d{1,8}|this\.\w{1,32})\s?==)/;
/** A quote ends the string around the value, and an operator follows as a second member. */
const OPERATOR = new RegExp(`^[^'"\\n]{0,64}["']\\s{0,4},\\s{0,4}["']?${OPERATORS}`);
const ANY_OPERATOR = new RegExp(OPERATORS);
/** A parenthesis that the value did not open ends the filter around it, and another begins. */
const FILTER = /^[^()\n]{0,64}\)+\s?\({1,2}\s?(?:[|&!][()\w]|[\w-]{1,40}[~<>]?=)/;

/** Looks for values that leave a query of a document store or a filter of a directory, which is no SQL. */
export function detectQuery({ text, signs }: Reading, strict: boolean, report: Report): void {
  const hasShell = (signs & SIGN.shell) !== 0;
  if (hasShell && (signs & SIGN.quote) !== 0) {
    reportMatch(text, 'quote_and_script', SCRIPT, report);
    if (text.includes('$')) reportMatch(text, 'quote_and_operator', OPERATOR, report);
  }
  if (strict && hasShell && text.includes('$')) reportMatch(text, 'operator', ANY_OPERATOR, report);
  if ((signs & SIGN.open) !== 0 && (text.includes(')(') || text.includes(') (')))
    reportMatch(text, 'filter', FILTER, report);
}

function reportMatch(text: string, rule: string, pattern: RegExp, report: Report): void {
  const found = pattern.exec(text);
  if (found !== null) report(rule, found.index, found.index + found[0].length);
}
