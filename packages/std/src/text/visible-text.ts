import { named, replaceHidden } from './hidden-characters.ts';

/**
 * A foreign text as a person may see it: what moves a cursor, turns the direction of writing or cannot be seen stands as
 * `\u{…}`. Line feeds stay.
 * @param charsMax what is longer is cut, with the number of UTF-16 units that are missing
 */
export function visibleText(text: string, charsMax: number): string {
  // Half of a pair at the cut would stand as an escape.
  const cut = text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '');
  const seen = replaceHidden(cut, (found) => (found.endsWith('\n') ? found.replace('\r', named) : named(found)));
  return cut === text ? seen : `${seen}… (${text.length - cut.length} more characters)`;
}

/** The same in one line: line feeds stand as `\n`. */
export function visibleLine(text: string, charsMax: number): string {
  return visibleText(text, charsMax).replaceAll('\n', '\\n');
}
