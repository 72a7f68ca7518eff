import { named, replaceHidden } from './hidden-characters.ts';

/**
 * A foreign text in a form that is safe to show: characters that move a cursor, change the direction of writing or are
 * invisible are shown as `\u{…}`. Line feeds stay.
 * @param charsMax a longer text is cut, with the number of missing UTF-16 units
 */
export function visibleText(text: string, charsMax: number): string {
  // Half of a surrogate pair at the cut would be shown as an escape.
  const cut = text.length <= charsMax ? text : text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '');
  const seen = replaceHidden(cut, (found) => (found.endsWith('\n') ? found.replace('\r', named) : named(found)));
  return cut === text ? seen : `${seen}… (${text.length - cut.length} more characters)`;
}

/** As above, in one line: line feeds are shown as `\n`. */
export function visibleLine(text: string, charsMax: number): string {
  return visibleText(text, charsMax).replaceAll('\n', '\\n');
}
