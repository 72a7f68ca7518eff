/** Something in a text that is taken for a path. */
export interface PathToken {
  readonly path: string;
  readonly absolute: boolean;
}

/** Longest token that is taken for a path, in UTF-16 units. */
const PATH_CHARS_MAX = 4096;

/** Quoted text, in which a space belongs to the path, or a run without spaces and quotes. */
const TOKENS = /"([^"\n]{1,4096})"|'([^'\n]{1,4096})'|`([^`\n]{1,4096})`|[^\s"'`]+/g;
/** What stands around a path in prose, lists, options and calls. */
const WRAPPING_START = /^(?:[([{&]|[\w.]{1,64}\(|--?[\w-]{1,64}=|[A-Za-z_]\w{0,64}=|-[A-Za-z](?=[./~]))+/;
const WRAPPING_END = /(?<![:&!?])[:&!?]+$/;
/** Looked for from the beginning of a run alone: from each of its signs it would take time by the square. */
const CLOSING_END = /(?<![)\]}])[)\]}]+[:.]?$/;
const BETWEEN = /\]\(|[<>|;,]/;

const ABSOLUTE = /^(?:\/(?!\/)[^\s/]|\/$|~(?:[\w.-]{0,64})\/|[A-Za-z]:[\\/](?!\/)|\\\\[\w.-])/;
const RELATIVE = /^\.{1,2}[\\/]/;
const SCHEME = /^[a-z][a-z0-9+.-]{1,31}:/i;
/** `host.example/page` and `//host/page`; the names end in what most names end in. */
const BARE_URL =
  /^(?:\/\/|www\.|(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|io|dev|app|edu|gov|info|co|ai|me|cloud|xyz|uk|de|fr|jp|cn|ru|eu)(?::\d{1,5})?\/)/i;
const MAILBOX = /^[\w.+-]{1,64}@[\w.-]{1,253}(?::|$)/;
const MEDIA_TYPE = /^(?:application|audio|font|image|message|model|multipart|text|video)\/[\w.+*-]+$/i;
/** Fractions, dates, rates, and what people write a slash between. */
const NUMBERS = /^[\d.,:%$€£+-]*(?:\/[\d.,:%$€£+-]+)+$/;
const IDIOM =
  /^(?:and\/or|or\/and|he\/she|she\/he|s\/he|his\/her|him\/her|they\/them|yes\/no|true\/false|on\/off|n\/a|w\/o?|c\/o|i\/o|tcp\/ip|read\/write|input\/output|client\/server|[a-z]{1,4}\/s|km\/h)$/i;
const MARKUP = /^<?\/?[a-z][\w-]*\s*\/?>/i;
const SOURCE_FILE = /^(?:[\w.@+-]{1,128}[\\/])+[\w.@+-]{1,128}$/;

/** The paths in a text; what is no path is passed over. Linear in the text. */
export function* pathTokens(text: string): Generator<PathToken> {
  if (!/[\\/]/.test(text)) return;
  for (const found of text.matchAll(TOKENS)) {
    const quoted = found[1] ?? found[2] ?? found[3];
    if (quoted !== undefined && !/[\\/]/.test(quoted)) continue;
    if (quoted !== undefined && !isWholePath(quoted)) {
      for (const word of quoted.split(/\s+/)) yield* pathOf(word);
    } else if (quoted !== undefined) yield* pathOf(quoted);
    else for (const word of wordsOf(found[0])) yield* pathOf(word);
  }
}

/** Parts of a run without spaces, without what only closes a bracket that was opened before it. */
function wordsOf(run: string): readonly string[] {
  if (SCHEME.test(run) || MARKUP.test(run)) return [run];
  return run.split(BETWEEN).map((part) => {
    const bare = part.replace(WRAPPING_START, '');
    return /[)\]}]/.test(bare) && !/[([{]/.test(bare) ? bare.replace(CLOSING_END, '') : bare;
  });
}

/** A quoted text with spaces is one path when it begins as one and no second path follows in it. */
function isWholePath(text: string): boolean {
  if (!/\s/.test(text)) return true;
  return (ABSOLUTE.test(text) || RELATIVE.test(text)) && !/\s(?:\.{0,2}[\\/]|[A-Za-z]:[\\/]|~\/|-)/.test(text);
}

function* pathOf(word: string): Generator<PathToken> {
  if (word.length > PATH_CHARS_MAX || MARKUP.test(word)) return;
  const bare = word.replace(WRAPPING_START, '').replace(WRAPPING_END, '');
  const path = /[^./\\]\.$/.test(bare) ? bare.slice(0, -1) : bare;
  if (/^file:\/\/(?:localhost)?\//i.test(path)) {
    yield { path: path.replace(/^file:\/\/(?:localhost)?/i, ''), absolute: true };
  } else if (isPath(path)) yield { path, absolute: ABSOLUTE.test(path) };
}

function isPath(text: string): boolean {
  if (!/[\\/]/.test(text)) return false;
  if (ABSOLUTE.test(text)) return !MARKUP.test(text);
  if (RELATIVE.test(text)) return true;
  if (SCHEME.test(text) || BARE_URL.test(text) || MAILBOX.test(text)) return false;
  if (MEDIA_TYPE.test(text) || NUMBERS.test(text) || IDIOM.test(text)) return false;
  if (text.includes('\\')) return SOURCE_FILE.test(text) && /\.\w{1,8}$/.test(text);
  return /^[^/]/.test(text) && /[\p{L}\p{N}_.*-]/u.test(text.replace(/^[^/]*\//, ''));
}
