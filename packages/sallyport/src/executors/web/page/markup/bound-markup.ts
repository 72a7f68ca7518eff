import { KiB } from '@sallyport/std/bytes';

/** Limits of parsed markup: time and memory of the parser grow faster than these. */
const BOUNDS = {
  depthMax: 256,
  elementsMax: 25_000,
  /** Longest tag with its attributes, in characters; longer ones are dropped. */
  tagCharsMax: 16 * KiB,
} as const;

/** Elements whose end tag does not exist or is usually omitted, so that they do not count for the depth. */
const UNCOUNTED = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'p li dt dd option optgroup tr td th thead tbody tfoot colgroup rp rt html head body'
  ).split(' '),
);
const TAG = /<(\/?)([a-z][^\s/>]{0,64})/gi;

/**
 * Cuts markup where it becomes too deep or has too many elements, and drops overlong tags. It parses tags roughly, in
 * one pass; the limits of the worker catch what it misjudges.
 */
export function boundMarkup(html: string): { text: string; cut: boolean } {
  const { text: short, cut: shortened } = withoutLongTags(html, BOUNDS.tagCharsMax);
  let depth = 0;
  let uncounted = 0;
  let elements = 0;
  for (const found of short.matchAll(TAG)) {
    const name = (found[2] ?? '').toLowerCase();
    if (found[1] === '/') {
      if (!UNCOUNTED.has(name)) depth = Math.max(0, depth - 1);
      uncounted = 0;
      continue;
    }
    elements += 1;
    if (!UNCOUNTED.has(name)) depth += 1;
    else uncounted += 1;
    const isTooDeep = depth > BOUNDS.depthMax || uncounted > BOUNDS.elementsMax;
    if (isTooDeep || elements > BOUNDS.elementsMax) return { text: short.slice(0, found.index), cut: true };
  }
  return { text: short, cut: shortened };
}

function withoutLongTags(html: string, most: number): { text: string; cut: boolean } {
  const kept: string[] = [];
  let from = 0;
  let cut = false;
  for (let at = html.indexOf('<'); at !== -1; ) {
    const end = html.indexOf('>', at);
    if (end === -1) {
      if (html.length - at > most) {
        kept.push(html.slice(from, at));
        return { text: kept.join(''), cut: true };
      }
      break;
    }
    if (end - at > most && /^<[a-z]/i.test(html.slice(at, at + 2))) {
      kept.push(html.slice(from, at));
      from = end + 1;
      cut = true;
    }
    at = html.indexOf('<', end);
  }
  kept.push(html.slice(from));
  return { text: kept.join(''), cut };
}
