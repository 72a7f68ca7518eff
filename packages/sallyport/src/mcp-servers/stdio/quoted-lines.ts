/** Stack frames as Node and Python print them: they say where, not what. */
const FRAME = /^\s*(?:at\s.*\d+\)?|File ".*", line \d+.*)\s*$/;
/** A line that names a fault: `Error: …`, `ModuleNotFoundError: …`, `npm error …`, `fatal: …`, `panic: …`. */
const FAULT = /\b(?:\w*(?:Error|Exception)|error|fatal|panic)\b/;
/** Limits of the first fault with the text after it, and of the end: lines and characters of each. */
const FAULT_LINES = 3;
const FAULT_CHARS = 500;
const END_LINES = 8;
const END_CHARS = 1_000;

/**
 * The part of a program's last output that an error message quotes: its first fault and its end, with `…` for
 * omissions. Limited in length; empty when there is nothing to quote.
 * @param text without secrets: a cut secret could not be hidden afterwards
 */
export function quotedLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !FRAME.test(line));
  const end = lines.slice(-END_LINES);
  const ending = end.join('\n').slice(-END_CHARS);
  const fault = lines.findIndex((line) => FAULT.test(line));
  const isShown = ending.length === end.join('\n').length && fault >= lines.length - END_LINES;
  if (fault < 0 || isShown) return ending;
  const first = lines.slice(fault, Math.min(fault + FAULT_LINES, Math.max(fault + 1, lines.length - END_LINES)));
  return `${first.join('\n').slice(0, FAULT_CHARS)}\n…\n${ending}`;
}
