// Hot path: runs over every text of every call.
import { KiB } from '@sallyport/std/bytes';
import { detectCommand } from './command/detect-command.ts';
import { type InjectionFinding, type Report, type SanitiseProfile, THREATS, type Threat } from './finding.ts';
import { detectMarkup } from './html/detect-markup.ts';
import { detectScript } from './html/detect-script.ts';
import { TEXT_UNITS_MAX } from './lexer/constants.ts';
import { detectQuery } from './query/detect-query.ts';
import { detectSql } from './sql/detect-sql.ts';
import { lex } from './sql/lex.ts';
import { codeSpans } from './text/code-spans.ts';
import { type Reading, readText } from './text/reading.ts';
import { SIGN } from './text/signs.ts';
import { decodedView, placeIn, type View } from './text/views.ts';

/** Options for one text. */
export interface DetectOptions {
  /** Default `default`. */
  readonly profile?: SanitiseProfile;
  /** What to look for; default everything. */
  readonly threats?: readonly Threat[];
}

/** Most findings reported per threat in one text. */
const FINDINGS_MAX = 64;
/** A longer text is searched in windows that overlap by this many units, so that nothing hides between them. */
const WINDOW_OVERLAP = 4 * KiB;
const NOTHING: readonly InjectionFinding[] = Object.freeze([]);

/** Documented at the public function, `../sanitise.ts`. */
export function findInjection(text: string, options: DetectOptions = {}): readonly InjectionFinding[] {
  if (isOneWord(text)) return NOTHING;
  if (text.length <= TEXT_UNITS_MAX) return findInWindow(text, options);
  const found: InjectionFinding[] = [];
  for (let from = 0; from < text.length - WINDOW_OVERLAP; from += TEXT_UNITS_MAX - WINDOW_OVERLAP) {
    const window = findInWindow(text.slice(from, from + TEXT_UNITS_MAX), options);
    for (const each of window) found.push({ ...each, start: each.start + from, end: each.end + from });
  }
  return found.length === 0 ? NOTHING : inOrder(found);
}

/** Letters and digits: most arguments are nothing else, and no attack is. */
function isOneWord(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const letter = (code | 32) >= 97 && (code | 32) <= 122;
    if (!letter && !(code >= 48 && code <= 57)) return false;
  }
  return true;
}

function findInWindow(text: string, { profile, threats = THREATS }: DetectOptions): readonly InjectionFinding[] {
  const strict = profile === 'strict';
  collect(undefined);
  const reading = readText(text);
  // A second reading replaces the first, so the plain text is searched completely before.
  lookAt(reading, threats, strict);
  const decoded = (reading.signs & SIGN.escape) === 0 ? undefined : decodedView(text);
  if (decoded !== undefined) {
    const missing = threats.filter((threat) => collected?.some((each) => each.threat === threat) !== true);
    collect(decoded);
    lookAt(readText(decoded.text), missing, strict);
  }
  if (collected === undefined) return NOTHING;
  const shown = strict ? collected : withoutCode(text, collected);
  collected = undefined;
  return shown.length === 0 ? NOTHING : inOrder(shown);
}

/** Findings in the current text; one text at a time, so that a text without findings costs no memory. */
let collected: InjectionFinding[] | undefined;
let view: View | undefined;
let sought: Threat = 'sql_injection';
let count = 0;

function collect(seen: View | undefined): void {
  if (seen === undefined) collected = undefined;
  view = seen;
}

const report: Report = (rule, start, end) => {
  if (++count > FINDINGS_MAX) return;
  collected ??= [];
  const last = Math.max(end, start);
  const place = view === undefined ? { start, end: last } : placeIn(view, start, last);
  collected.push({ threat: sought, rule, ...place });
};

const MARKUP_SIGNS = SIGN.less | SIGN.equals | SIGN.open;
const SCRIPT_SIGNS = SIGN.open | SIGN.quote | SIGN.bracket | SIGN.colon | SIGN.plus | SIGN.shell;
const COMMAND_SIGNS = SIGN.shell | SIGN.escape | SIGN.open | SIGN.slash | SIGN.quote | SIGN.less | SIGN.bracket;

/** Each threat is searched only in texts where it could occur. */
function lookAt(reading: Reading, threats: readonly Threat[], strict: boolean): void {
  const { text, signs } = reading;
  const plusIsBlank = (signs & (SIGN.plus | SIGN.blank)) === SIGN.plus && !text.startsWith('+');
  const tokens = lex(reading, plusIsBlank, false);
  for (const threat of threats) {
    sought = threat;
    count = 0;
    if (threat === 'sql_injection') {
      detectSql(reading, tokens, strict, plusIsBlank, report);
      detectQuery(reading, strict, report);
    } else if (threat === 'xss') {
      if ((signs & MARKUP_SIGNS) !== 0) detectMarkup(reading, strict, report);
      if ((signs & SCRIPT_SIGNS) !== 0) detectScript(reading, report);
    } else if ((signs & COMMAND_SIGNS) !== 0 || text.startsWith('-')) detectCommand(reading, strict, report);
  }
}

/**
 * Drops findings in parts that a document shows as code. SQL findings stay: the quotes of a statement ignore backticks.
 */
function withoutCode(text: string, found: readonly InjectionFinding[]): readonly InjectionFinding[] {
  const spans = codeSpans(text);
  if (spans.length === 0) return found;
  return found.filter(
    ({ threat, start, end }) =>
      threat === 'sql_injection' || !spans.some((span) => span.start <= start && end <= span.end),
  );
}

function inOrder(found: readonly InjectionFinding[]): readonly InjectionFinding[] {
  const sorted = [...found].sort((one, other) => one.start - other.start || one.end - other.end);
  return sorted.filter(({ rule, start, end }, at) => {
    const before = sorted[at - 1];
    return before === undefined || before.rule !== rule || before.start !== start || before.end !== end;
  });
}
