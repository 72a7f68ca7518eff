import { nearestName } from '@sallyport/std/text/nearest-name';

/** The known name that an unknown one may mean: the nearest, else the first with this end; undefined when there is none. */
export const likelyName = (unknown: string, known: readonly string[], end: string): string | undefined =>
  nearestName(unknown, known) ?? known.find((each) => each.endsWith(end));
