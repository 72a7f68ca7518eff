/** Frames of a stack, as Node and Python write them: where, not what. */
const FRAME = /^\s*(?:at\s.*\d+\)?|File ".*", line \d+.*)\s*$/;
/** A line that names a fault: `Error: …`, `ModuleNotFoundError: …`, `npm error …`, `fatal: …`, `panic: …`. */
const FAULT = /\b(?:\w*(?:Error|Exception)|error|fatal|panic)\b/;
/** The first fault, with what is said right after it, and the end: lines and characters of each. */
const FAULT_LINES = 3;
const FAULT_CHARS = 500;
const END_LINES = 8;
const END_CHARS = 1_000;

/**
 * What an error message quotes of a text that a program wrote before it ended: its first fault and its end, with `…` where
 * something is left out. Bounded; empty when there is nothing to quote.
 * @param text without secrets: what is cut here could not be hidden afterwards
 */
export function tellingLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !FRAME.test(line));
  const end = lines.slice(-END_LINES);
  const ending = end.join('\n').slice(-END_CHARS);
  const fault = lines.findIndex((line) => FAULT.test(line));
  const isShown = ending.length === end.join('\n').length && fault >= lines.length - END_LINES;
  if (fault < 0 || isShown) return ending;
  const first = lines.slice(fault, Math.min(fault + FAULT_LINES, Math.max(fault + 1, lines.length - END_LINES)));
  return `${first.join('\n').slice(0, FAULT_CHARS)}\n…\n${ending}`;
}
