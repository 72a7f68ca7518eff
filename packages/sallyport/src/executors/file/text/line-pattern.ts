// Called for every line of a search. RE2 is safe and slow, so lines that lack a required text of the pattern are
// skipped by the native engine, which cannot be slowed down by a plain text.
import { RE2JS } from 're2js';

/** Tests whether a line matches the pattern. */
export interface LinePattern {
  /** The first index from which a line may match, or -1. For skipping much text at once. */
  candidate(text: string, from: number): number;
  test(line: string): boolean;
}

/**
 * Compiles a search, in time linear in the text whatever the pattern.
 * @throws SyntaxError saying what is wrong with the pattern
 */
export function compileLinePattern(pattern: string, isFixed: boolean, ignoreCase: boolean): LinePattern {
  if (isFixed && !ignoreCase) {
    return { candidate: (text, from) => text.indexOf(pattern, from), test: (line) => line.includes(pattern) };
  }
  const needed = needle(isFixed ? pattern : requiredText(pattern), ignoreCase);
  const compiled = compileRe2(isFixed ? RE2JS.quote(pattern) : pattern, ignoreCase);
  return { candidate: needed, test: (line) => compiled.test(line) };
}

/** Most instructions of a compiled pattern; each may cost time for every character. */
const INSTRUCTIONS_MAX = 2000;

function compileRe2(pattern: string, ignoreCase: boolean): RE2JS {
  const compiled = parsed(pattern, ignoreCase);
  if (compiled.programSize() > INSTRUCTIONS_MAX) throw new SyntaxError('it is too large; use smaller repeat counts');
  return compiled;
}

function parsed(pattern: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (thrown) {
    throw new SyntaxError(thrown instanceof Error ? thrown.message : 'bad syntax', { cause: thrown });
  }
}

function needle(text: string, ignoreCase: boolean): LinePattern['candidate'] {
  if (text === '') return (_text, from) => from;
  if (!ignoreCase) return (whole, from) => whole.indexOf(text, from);
  const plain = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\\-', '-'), 'giu');
  return (whole, from) => {
    plain.lastIndex = from;
    return plain.exec(whole)?.index ?? -1;
  };
}

/** Characters that stand for themselves in a pattern and are not subject to a repetition that allows none. */
const PLAIN_RUN = /^[\p{L}\p{N}_ ,;:<>=!@#%&'"`~/-]+/u;

/**
 * The longest run of plain characters at the top level of a pattern that every matching line must contain; empty when
 * unknown. Conservative: a top-level alternative, flags or anything unusual give none.
 */
export function requiredText(pattern: string): string {
  let best = '';
  for (let at = 0; at < pattern.length; ) {
    const rest = pattern.slice(at);
    const [run = ''] = PLAIN_RUN.exec(rest) ?? [];
    if (run !== '') {
      const isRepeated = /^[*?{]/.test(rest.slice(run.length));
      const sure = isRepeated ? [...run].slice(0, -1).join('') : run;
      if (sure.length > best.length) best = sure;
      at += run.length;
      continue;
    }
    const length = lengthOfUnit(rest);
    if (length === 0) return '';
    at += length;
  }
  return best;
}

/**
 * Length of a unit that is not plain text: a class, a group, an escape, an operator; 0 for one that makes any
 * conclusion unsafe.
 */
function lengthOfUnit(rest: string): number {
  const [first] = rest;
  if (first === '|') return 0;
  if (first === '\\') return /^\\[dDwWsSbBtnrfv.^$*+?()[\]{}|/\\-]/.test(rest) ? 2 : 0;
  if (first === '[') return lengthOfClass(rest);
  if (first === '(') return lengthOfGroup(rest);
  if (first === '{') return /^\{\d+(?:,\d*)?\}/.exec(rest)?.[0].length ?? 0;
  return first !== undefined && '.^$*+?'.includes(first) ? 1 : 0;
}

function lengthOfClass(rest: string): number {
  return /^\[\^?\]?(?:[^\][\\]|\\[^pPQE])*\]/.exec(rest)?.[0].length ?? 0;
}

function lengthOfGroup(rest: string): number {
  if (/^\(\?(?!:)/.test(rest)) return 0;
  let at = /^\((?:\?:)?/.exec(rest)?.[0].length ?? 1;
  for (; at < rest.length; ) {
    const next = rest.slice(at);
    if (next.startsWith(')')) return at + 1;
    const length = next.startsWith('|') ? 1 : (PLAIN_RUN.exec(next)?.[0].length ?? lengthOfUnit(next));
    if (length === 0) return 0;
    at += length;
  }
  return 0;
}
