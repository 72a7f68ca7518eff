/** Colours of a terminal; without one every function gives its text back. */
export interface Paint {
  readonly strong: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly bad: (text: string) => string;
}

/** @param coloured on a terminal and without NO_COLOR (https://no-color.org) */
export function createPaint(coloured: boolean): Paint {
  const code = (start: number, end: number) => (text: string) =>
    coloured ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return { strong: code(1, 22), dim: code(2, 22), good: code(32, 39), warning: code(33, 39), bad: code(31, 39) };
}

/**
 * Foreign text without what a terminal would obey: control characters other than line ends and tab. What is written to a
 * file or a pipe is cleaned too: people look at it in a terminal later.
 */
export function harmless(text: string): string {
  return text.replaceAll(/\r(?!\n)|[^\P{Cc}\r\n\t]/gu, '\ufffd');
}

/** JSON of one value, in which every control character is an escape: `JSON.stringify` leaves DEL and U+0080 to U+009F as they are. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? 'null';
  return text.replaceAll(/[\u007f-\u009f]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
