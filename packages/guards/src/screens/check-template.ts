import { placesIn, type TemplateOptions, type TemplateWord } from './shell/table/judge-places.ts';

/** Where parameters stand in a command, by the index of the word; `input` is what the command reads. */
export interface TemplateCheck {
  /** Places whose text is run: as code, or as the name of a program. */
  readonly runs: readonly { readonly at: number | 'input'; readonly as: 'code' | 'program' }[];
  /** Places that may lead there, of programs that are known to run others. */
  readonly open: readonly (number | 'input')[];
}

/**
 * Judges the command of a tool before anybody calls it: which parameters would be run, and which stand where a program that
 * is known to run code is not known to be safe with them. Of programs that it does not know it says nothing.
 */
export function checkTemplate(words: readonly TemplateWord[], options: TemplateOptions = {}): TemplateCheck {
  const { runs, open } = placesIn(words, options);
  const ordered = (a: number | 'input', b: number | 'input'): number => Number(a) - Number(b) || 0;
  const at = [...new Set(runs.keys())].sort(ordered);
  return {
    runs: at.map((place) => ({ at: place, as: runs.get(place) ?? 'code' })),
    open: [...open].filter((place) => !runs.has(place)).sort(ordered),
  };
}
