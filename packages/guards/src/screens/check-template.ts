import { placesIn, type TemplateOptions, type TemplateWord } from './shell/table/judge-places.ts';

/** Places of parameters in a command, by the index of the word; `input` is standard input. */
export interface TemplateCheck {
  /** Places whose text is executed: as code, or as the name of a program. */
  readonly runs: readonly { readonly at: number | 'input'; readonly as: 'code' | 'program' }[];
  /** Places that may be executed, in programs known to run others. */
  readonly open: readonly (number | 'input')[];
}

/**
 * Judges a tool's command before any call: which parameters would be executed, and which are in places not known to be
 * safe, of a program known to run code. Unknown programs are not judged.
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
