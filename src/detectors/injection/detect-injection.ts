// Hot path: runs over every text of every call.
import { KiB } from '../../std/bytes.ts';
import { detectCommand } from './command/detect-command.ts';
import { type InjectionFinding, type Report, type SanitiseProfile, THREATS, type Threat } from './finding.ts';
import { detectMarkup } from './html/detect-markup.ts';
import { detectScript } from './html/detect-script.ts';
import { detectSql } from './sql/detect-sql.ts';
import { codeSpans } from './text/code-spans.ts';
import { type Reading, readText, SIGN } from './text/reading.ts';
import { decodedView, placeIn, type View } from './text/views.ts';

/** How one text is judged. */
export interface DetectOptions {
  /** Default `default`. */
  readonly profile?: SanitiseProfile;
  /** What to look for; default everything. */
  readonly threats?: readonly Threat[];
}

/** Findings of one threat in one text that are told. */
const FINDINGS_MAX = 64;
/** A longer text is looked at in windows, so that memory stays bounded, in UTF-16 units. */
const WINDOW_UNITS = 64 * KiB;
/** What two windows share, so that nothing hides between them. */
const WINDOW_OVERLAP = 4 * KiB;
const NOTHING: readonly InjectionFinding[] = Object.freeze([]);

/** See the face, `../sanitise.ts`. */
export function findInjection(text: string, options: DetectOptions = {}): readonly InjectionFinding[] {
  if (isOneWord(text)) return NOTHING;
  if (text.length <= WINDOW_UNITS) return findInWindow(text, options);
  const found: InjectionFinding[] = [];
  for (let from = 0; from < text.length - WINDOW_OVERLAP; from += WINDOW_UNITS - WINDOW_OVERLAP) {
    const window = findInWindow(text.slice(from, from + WINDOW_UNITS), options);
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
  const reading = readText(text);
  // A second reading takes the place of the first, so everything is looked for in the open before.
  let found: InjectionFinding[] | undefined;
  for (const threat of threats) found = look(threat, reading, undefined, strict, found);
  const decoded = (reading.signs & SIGN.escape) === 0 ? undefined : decodedView(text);
  if (decoded !== undefined) {
    const missing = threats.filter((threat) => found?.some((each) => each.threat === threat) !== true);
    const again = readText(decoded.text);
    for (const threat of missing) found = look(threat, again, decoded, strict, found);
  }
  if (found === undefined) return NOTHING;
  const shown = strict ? found : withoutCode(text, found);
  return shown.length === 0 ? NOTHING : inOrder(shown);
}

/** Adds to what was found; undefined as long as nothing was, which is the common case. */
function look(
  threat: Threat,
  reading: Reading,
  view: View | undefined,
  strict: boolean,
  before: InjectionFinding[] | undefined,
): InjectionFinding[] | undefined {
  let found = before;
  let count = 0;
  LOOKS[threat](reading, strict, (rule, start, end) => {
    if (++count > FINDINGS_MAX) return;
    found ??= [];
    const last = Math.max(end, start);
    found.push({ threat, rule, ...(view === undefined ? { start, end: last } : placeIn(view, start, last)) });
  });
  return found;
}

const MARKUP_SIGNS = SIGN.less | SIGN.equals | SIGN.open;
const SCRIPT_SIGNS = SIGN.open | SIGN.quote | SIGN.bracket | SIGN.colon | SIGN.plus | SIGN.shell;
const COMMAND_SIGNS = SIGN.shell | SIGN.escape | SIGN.open | SIGN.slash | SIGN.quote | SIGN.less;

/** Each looks only at texts in which something of its kind could stand. */
const LOOKS: Readonly<Record<Threat, (reading: Reading, strict: boolean, report: Report) => void>> = {
  sql_injection: (reading, strict, report) => {
    const { text, signs } = reading;
    detectSql(reading, strict, (signs & (SIGN.plus | SIGN.blank)) === SIGN.plus && !text.startsWith('+'), report);
  },
  xss: (reading, strict, report) => {
    if ((reading.signs & MARKUP_SIGNS) !== 0) detectMarkup(reading, strict, report);
    if ((reading.signs & SCRIPT_SIGNS) !== 0) detectScript(reading, report);
  },
  command_injection: (reading, strict, report) => {
    if ((reading.signs & COMMAND_SIGNS) !== 0) detectCommand(reading, strict, report);
  },
};

/**
 * Leaves out what a document shows as code. SQL is not left out: the quotes of a statement know nothing of backticks.
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
