import { SHELL_SCREEN_BOUNDS } from './bounds.ts';
import { type Field, lineOf } from './field.ts';

/** What to do with a command: run it, ask a person first, or never run it. */
export type Verdict = 'safe' | 'ask' | 'blocked';

/** Why a command is not certainly safe. */
export interface Finding {
  readonly rule: string;
  readonly command: string;
  readonly why: string;
  readonly verdict: Verdict;
}

/** One simple command that was found. */
export interface FoundCommand {
  readonly name: string;
  readonly words: readonly (string | undefined)[];
  readonly depth: number;
}

/** A rule's judgement of a command. */
export interface Judgement {
  readonly rule: string;
  readonly why: string;
  readonly verdict: 'ask' | 'blocked';
  /** Severe enough to count even when the command is only suspected among another command's arguments. */
  readonly severe?: true;
}

/** Collects what one check finds. */
export interface Report {
  readonly findings: Finding[];
  readonly commands: FoundCommand[];
  readonly writes: string[];
  /** True when a limit was reached; the check then ends early. */
  readonly isSpent: boolean;
  /** @param command its words, or a text of at most 200 characters */
  add(judgement: Judgement, command: string | readonly Field[]): void;
  /** Notes a command, at the end or at a place among those found before. */
  found(fields: readonly Field[], depth: number, position?: number): void;
  writesTo(target: string): void;
  /** True while the examined command is only suspected to run. */
  readonly isSuspecting: boolean;
  /** Counts characters about to be processed; false when the limit is reached. */
  spend(characters: number): boolean;
  /** Ends the check: the rest may be anything. */
  exhaust(why: string, command: string): void;
  /** Findings of `look` count only when severe, and its commands are not reported. */
  suspect(look: () => void): boolean;
}

/** Characters of a command that a finding shows. */
const COMMAND_MAX = 200;

const RANK: Readonly<Record<Verdict, number>> = { safe: 0, ask: 1, blocked: 2 };

/** The worst of the findings; safe when there is none. */
export function worstOf(findings: readonly Finding[]): Verdict {
  return findings.reduce<Verdict>((worst, { verdict }) => (RANK[verdict] > RANK[worst] ? verdict : worst), 'safe');
}

/**
 * An empty report.
 * @param lowered rules that only ask
 */
export function createReport(lowered: ReadonlySet<string>): Report {
  const findings: Finding[] = [];
  const commands: FoundCommand[] = [];
  const writes: string[] = [];
  let work = 0;
  let spent = false;
  let suspicions = 0;
  let severe = 0;
  const report: Report = {
    findings,
    commands,
    writes,
    get isSuspecting() {
      return suspicions > 0;
    },
    get isSpent() {
      return spent;
    },
    add({ rule, why, verdict: said, severe: isSevere }, words) {
      const verdict = lowered.has(rule) ? 'ask' : said;
      if (suspicions > 0 && isSevere !== true) return;
      const command = typeof words === 'string' ? words.slice(0, COMMAND_MAX) : lineOf(words);
      if (isSevere === true) severe += 1;
      if (findings.some((found) => found.rule === rule && found.command === command && found.verdict === verdict))
        return;
      if (findings.length < SHELL_SCREEN_BOUNDS.findingsMax) findings.push({ rule, command, why, verdict });
      else if (verdict === 'blocked') findings[findings.length - 1] = { rule, command, why, verdict };
    },
    found(fields, depth, position = commands.length) {
      if (suspicions > 0) return;
      const words = fields.map(({ text, certain, glob }) => (certain || glob ? text : undefined));
      if (commands.length >= SHELL_SCREEN_BOUNDS.commandsMax)
        report.exhaust('it runs too many commands', lineOf(fields));
      else commands.splice(position, 0, { name: fields[0]?.text ?? '', words, depth });
    },
    writesTo(target) {
      if (!writes.includes(target) && writes.length < SHELL_SCREEN_BOUNDS.fieldsMax) writes.push(target);
    },
    spend(characters) {
      work += characters;
      if (work > SHELL_SCREEN_BOUNDS.workCharactersMax) report.exhaust('it takes too much work to follow', '');
      return !spent;
    },
    exhaust(why, command) {
      spent = true;
      const before = suspicions;
      suspicions = 0;
      report.add(
        { rule: 'beyond-bounds', why: `${why}, so it cannot be judged`, verdict: 'blocked' },
        command.slice(0, 200),
      );
      suspicions = before;
    },
    suspect(look) {
      const before = severe;
      suspicions += 1;
      look();
      suspicions -= 1;
      return severe > before;
    },
  };
  return report;
}
