import type { CommandFinding, CommandVerdict } from '@sallyport/guards';
import { type Failure, failure } from '@sallyport/std/error/failure';

/** What was screened, for messages: a tool's command, or a skill's script. */
export type Screened = 'command' | 'script';

type Findings = readonly CommandFinding[];

/** Most reasons that a message names. */
const REASONS_MAX = 3;

const SCREEN_OF: Readonly<Record<Screened, string>> = { command: 'shell', script: 'skill' };

/** The refusal of a blocked command, confirmed or not; undefined for any other. */
export function blockedFailure(findings: Findings, what: Screened): Failure | undefined {
  const found = withVerdict(findings, 'blocked');
  if (found.length === 0) return undefined;
  const message = `The ${what} is blocked, because ${reasonsOf(found)}. Do it in another way.`;
  return failure('E3210', message, { details: { screen: SCREEN_OF[what], rules: rulesOf(found) } });
}

/**
 * The question for a person before the run; undefined when none is needed, and for blocked commands. It does not quote
 * the command, which may hold confidential text.
 */
export function questionOf(findings: Findings, what: Screened): string | undefined {
  const found = askedAbout(findings);
  if (found.length === 0) return undefined;
  return `The screen of commands asks about this ${what}, because ${reasonsOf(found)}.`;
}

/** The refusal of a command that needs a person's confirmation but has none; undefined for any other. */
export function unconfirmedFailure(findings: Findings, what: Screened): Failure | undefined {
  const question = questionOf(findings, what);
  if (question === undefined) return undefined;
  const details = { screen: SCREEN_OF[what], rules: rulesOf(askedAbout(findings)), reason: 'executor' };
  return failure('E3210', `${question} No person has confirmed it, so it did not run.`, { details });
}

const withVerdict = (findings: Findings, verdict: CommandVerdict): Findings =>
  findings.filter((finding) => finding.verdict === verdict);

const askedAbout = (findings: Findings): Findings =>
  withVerdict(findings, 'blocked').length > 0 ? [] : withVerdict(findings, 'ask');

const reasonsOf = (found: Findings): string =>
  [...new Set(found.map(({ rule, why }) => `${why} (${rule})`))].slice(0, REASONS_MAX).join(', and ');

const rulesOf = (found: Findings): string[] => [...new Set(found.map(({ rule }) => rule))];
