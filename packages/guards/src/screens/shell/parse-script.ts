import { type ParsedScript, parse } from 'unbash';
import { SHELL_SCREEN_BOUNDS } from './bounds.ts';
import type { Report } from './report.ts';

/** Characters that no one sees, or that turn the line around: what is read is not what is run. */
const HIDDEN = /[\p{Cf}\u115f\u1160\u3164\uffa0]/u;
const CONTROL = /[^\P{Cc}\t\n\r]/u;
/** `a[$(command)]` runs where a number is expected, even if it comes from a quoted text. */
const SUBSCRIPT = /\w\[[^\]\s]{0,40}(?:\$\(|`)/;
const CARRIAGE_RETURN = /\r\n?/g;
const NESTING = /nesting depth/;

/**
 * Parses a script. A fault is reported and what could be read is given nevertheless, since a shell runs what it
 * understood before it meets an error.
 * @returns undefined when it is beyond the bounds
 */
export function parseScript(text: string, report: Report): ParsedScript | undefined {
  const shown = text.slice(0, 200);
  if (text.length > SHELL_SCREEN_BOUNDS.scriptCharactersMax || opens(text) > SHELL_SCREEN_BOUNDS.expansionsMax) {
    report.exhaust('it is too long or too deeply nested', shown);
    return undefined;
  }
  if (!report.spend(text.length)) return undefined;
  if (!PLAIN.test(text)) noteCharacters(text, shown, report);
  if (SUBSCRIPT.test(text)) {
    report.add(ask('subscript-code', 'it holds a subscript that arithmetic would run'), shown);
  }
  const script = parse(text.replaceAll('\0', '').replace(CARRIAGE_RETURN, '\n'));
  noteErrors(script, report, shown);
  return script;
}

/** Printable ASCII needs no look at its characters. */
const PLAIN = /^[ -~\n\t]*$/;

function noteCharacters(text: string, shown: string, report: Report): void {
  if (HIDDEN.test(text)) {
    report.add(ask('hidden-characters', 'it holds invisible or direction-changing characters'), shown);
  }
  if (CONTROL.test(text)) report.add(ask('control-characters', 'it holds control characters'), shown);
  if (!text.isWellFormed()) report.add(ask('broken-text', 'it is not well-formed Unicode'), shown);
}

/** Reports words that no program can get, or that are not text. */
export function noteWords(words: readonly string[], report: Report): void {
  if (words.length === 0) report.add(ask('no-command', 'it names no program'), '');
  for (const word of words) {
    if (word.includes('\0')) report.add(ask('control-characters', 'it holds a NUL character'), word);
    if (!word.isWellFormed()) report.add(ask('broken-text', 'it is not well-formed Unicode'), word);
  }
}

/** Reports what a parser could not read; nested scripts have errors of their own. */
export function noteErrors({ errors }: ParsedScript, report: Report, shown: string): void {
  if (errors === undefined || errors.length === 0) return;
  if (errors.some(({ message }) => NESTING.test(message))) report.exhaust('it is too deeply nested', shown);
  else report.add(ask('unparsable', `it is not a script that can be read: ${errors[0]?.message ?? ''}`), shown);
}

function ask(rule: string, why: string): { rule: string; why: string; verdict: 'ask' } {
  return { rule, why, verdict: 'ask' };
}

/** Expansions and substitutions that a text may open. Short texts cannot open too many. */
function opens(text: string): number {
  if (text.length <= SHELL_SCREEN_BOUNDS.expansionsMax) return 0;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x60) count += 1;
    else if (code === 0x28 && (text[at - 1] === '$' || text[at - 1] === '<' || text[at - 1] === '>')) count += 1;
    else if (code === 0x7b && text[at - 1] === '$') count += 1;
  }
  return count;
}
