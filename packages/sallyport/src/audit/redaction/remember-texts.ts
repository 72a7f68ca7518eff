/** Number of cached texts, and the longest of them, in characters: names and states recur with every call. */
const TEXTS_MAX = 2000;
const TEXT_CHARS_MAX = 1000;

/** Wraps a function over texts with a cache of its latest results. */
export function rememberTexts(change: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const after = change(text);
    if (text.length > TEXT_CHARS_MAX) return after;
    if (known.size >= TEXTS_MAX) known.delete(known.keys().next().value ?? '');
    known.set(text, after);
    return after;
  };
}
