import { wildcardMatcher } from '@sallyport/std/text/wildcard';

/** True when the segments of an absolute path, in lower case, match a pattern. */
export type PathPattern = (segments: readonly string[]) => boolean;

/**
 * Reads a pattern: `**` stands for any number of whole segments, `*` for any run of characters in one. Letters fit in
 * either case, as some file systems have only one. Takes time in proportion to pattern × path.
 * @param glob `**` + `/.env`, `/etc/shadow`; a relative one fits anywhere, as if it began with `**` + `/`
 */
export function pathPattern(glob: string): PathPattern {
  const parts = glob
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '');
  if (!glob.startsWith('/') && parts[0] !== '**') parts.unshift('**');
  const steps = parts.map((part) => (part === '**' ? undefined : wildcardMatcher(part)));
  // Nearly every pattern contains a segment that nearly no path has.
  const literal = parts.find((part) => !part.includes('*'));
  return (segments) => {
    if (literal !== undefined && !segments.includes(literal)) return false;
    if (parts.length === 2 && steps[0] === undefined && segments.length > 0)
      return steps[1]?.(segments.at(-1) ?? '') ?? true;
    // reached[at]: true when the steps so far can match exactly the first `at` segments.
    let reached: boolean[] = [true];
    for (const step of steps) {
      const next: boolean[] = [];
      for (let at = 0; at <= segments.length; at += 1) {
        next[at] =
          step === undefined
            ? reached[at] === true || (at > 0 && next[at - 1] === true)
            : at > 0 && reached[at - 1] === true && step(segments[at - 1] ?? '');
      }
      reached = next;
    }
    return reached[segments.length] === true;
  };
}
