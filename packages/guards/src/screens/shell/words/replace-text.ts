import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';

/** The text with all places of a part replaced; undefined when it would become too long. */
export function replaceAllBounded(text: string, part: string, by: string): string | undefined {
  if (part === '') return text;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  const length = text.length + count * (by.length - part.length);
  return length > SHELL_SCREEN_BOUNDS.textCharactersMax ? undefined : text.replaceAll(part, () => by);
}
