import type { Report } from '../finding.ts';
import { callsOneOf } from '../text/calls-one-of.ts';
import type { Reading } from '../text/reading.ts';
import { SIGN } from '../text/signs.ts';
import { FACT } from '../text/word-facts.ts';
import { hasScriptScheme } from './read-value.ts';

/** Longest value examined as a script fragment; longer ones are programs or documents. */
const LENGTH_MAX = 1_024;
/** Words between the name of a language and its end: a sentence, not an address. */
const CALL = /[\w\])]\s*(?:\(|`|&lpar;|&#x0*28|&#0*40)|[=[]|\/\//i;
/** Functions that attacks call as a demonstration, and data that they read. */
const SHOWN =
  /(?:^|[^\w.$])(?:(?:window|self|top|parent|this|document)\s*\.\s*)?(?:alert|confirm|prompt|eval)\s*(?:\(|`|&lpar;|&#x0*28|&#0*40|\?\.)/i;
const READ =
  /(?:^|[^\w.$])(?:document\s*\.\s*(?:cookie|domain|write)|string\s*\.\s*fromcharcode|(?:top|window|self|this|parent)\s*\[)/i;
/** Leaves the surrounding string, block or call. */
const LEAVES =
  /^[^\w\s]*["'`][^\w\s]*[;,+\-*/)}\]]|^\s*[})\];]|["'`]\s*[;+\-*/)}\]]+\s*(?:alert|confirm|prompt|eval)\b/i;

/** Ends the previous statement, and comments out the rest. */
const COMMENTED_OUT = /[;}]\s*(?:alert|confirm|prompt|eval)\b.*\/\//i;

/** An expression of a template that a page evaluates, and that makes a function of a text. */
const IN_TEMPLATE = /\{\{[^}]{0,200}\bconstructor\b[^}]{0,200}\(/;

/** Looks for script without markup: an executable address, or a value that leaves its quotes. */
export function detectScript(reading: Reading, report: Report): void {
  const { text, signs, facts } = reading;
  const { length } = text;
  if ((signs & (SIGN.colon | SIGN.shell)) !== 0 && isScriptAddress(text)) report('script_address', 0, length);
  else if ((signs & SIGN.plus) !== 0 && text.includes('+ADw-') && /script|\+AD4-/i.test(text))
    report('utf7_element', 0, length);
  else if ((facts & FACT.reflects) !== 0 && text.includes('{{') && IN_TEMPLATE.test(text))
    report('template_script', 0, length);
  else if ((facts & FACT.browser) === 0) return;
  else if ((signs & CALL_SIGNS) !== 0 && length <= LENGTH_MAX && text.indexOf('\n') < 0 && isScript(reading)) {
    report('script', 0, length);
  }
}

const CALL_SIGNS = SIGN.open | SIGN.bracket | SIGN.shell;

/** `JavaScript: The Good Parts` is a book. */
function isScriptAddress(text: string): boolean {
  if (!hasScriptScheme(text, 0)) return false;
  const colon = text.search(/:|&colon;|&#/i);
  if (/^\W*data:/i.test(text)) return true;
  const blank = text.charCodeAt(colon + 1) === 32;
  return CALL.test(text.slice(colon + 1, colon + 1 + LENGTH_MAX)) && !(blank && /[a-z]{2} [a-z]{2}/i.test(text));
}

function isScript(reading: Reading): boolean {
  const { text } = reading;
  const shown = callsOneOf(reading, SHOWING) ? SHOWN.exec(text) : null;
  if (shown !== null) return shown.index === 0 || LEAVES.test(text) || COMMENTED_OUT.test(text);
  return (
    mayRead(text) && READ.test(text) && (LEAVES.test(text) || /^\s*(?:top|window|self|this|parent)\s*\[/i.test(text))
  );
}

const SHOWING: ReadonlySet<string> = new Set(['alert', 'confirm', 'prompt', 'eval']);

/** Without one of these the pattern cannot match; searching for them costs next to nothing. */
function mayRead(text: string): boolean {
  return text.includes('document') || text.includes('harCode') || text.includes('[');
}
