/** Colours of a terminal; without colours every function returns its text unchanged. */
export interface Paint {
  readonly strong: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly bad: (text: string) => string;
}

/** @param coloured true on a terminal when NO_COLOR is not set (https://no-color.org) */
export function createPaint(coloured: boolean): Paint {
  const code = (start: number, end: number) => (text: string) =>
    coloured ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  return { strong: code(1, 22), dim: code(2, 22), good: code(32, 39), warning: code(33, 39), bad: code(31, 39) };
}
