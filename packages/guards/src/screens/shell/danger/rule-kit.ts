import type { Field, Stream } from '../field.ts';
import type { Judgement } from '../report.ts';

/** A command that a rule looks at. */
export interface Invocation {
  readonly name: string;
  readonly args: readonly Field[];
  readonly input: Stream | undefined;
  /** The folder it runs in, where the script has changed it. */
  readonly folder: string | undefined;
  /** Notes a file that it writes. */
  writes(target: string): void;
}

/** What a rule says; undefined when it has nothing against the command. */
export type Rule = (command: Invocation) => Judgement | undefined;

/** Rules with the names of the programs that they look at, between spaces. */
export type RuleRows = readonly (readonly [string, Rule])[];

/** A judgement that nothing may overrule, believed even where the command is only suspected. */
export function block(rule: string, why: string): Judgement {
  return { rule, why, verdict: 'blocked', severe: true };
}

/** A judgement that holds where the command is certain to be one. */
export function blockHere(rule: string, why: string): Judgement {
  return { rule, why, verdict: 'blocked' };
}

/** A judgement that leaves it to a person. */
export function ask(rule: string, why: string): Judgement {
  return { rule, why, verdict: 'ask' };
}

/** Whether one of the words is there. */
export function hasWord(args: readonly Field[], ...words: readonly string[]): boolean {
  return args.some(({ text }) => words.includes(text));
}

/** Whether a word matches. */
export function hasMatch(args: readonly Field[], pattern: RegExp): boolean {
  return args.some(({ text }) => pattern.test(text));
}

/** A path that may lie anywhere, since its beginning is not known. */
export function isAnywhere({ text, blank }: Field): boolean {
  return blank && (text === '' || text.startsWith('/'));
}
