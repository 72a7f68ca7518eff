import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** Shortest secret that is hidden, in characters: hiding `1` would only garble what a tool says. */
const SECRET_CHARS_MIN = 6;
/** Shortest piece that base64 makes of a secret in the middle of other bytes and that is hidden, in characters. */
const PIECE_CHARS_MIN = 12;
/** Bytes that base64 writes together, as four characters. */
const GROUP_BYTES = 3;
/** Levels of objects and lists in a value that is searched for secrets; no honest one is this deep. */
const DEPTH_MAX = 512;
const HIDDEN = '[hidden]';

/** Takes the secrets of one call out of a text. */
export type HideSecrets = (text: string) => string;

const unchanged: HideSecrets = (text) => text;

/**
 * Makes the function that hides these secrets, also where a text holds them in base64, in hexadecimal, as a part of a URL
 * or with JSON escapes. A tool may send back what it was given, and neither a model nor a record may see it.
 * @param secrets values by name; those of less than six characters are left, for they would blot out other text
 */
export function hideSecrets(secrets: ReadonlyMap<string, string>): HideSecrets {
  const forms = new Set([...secrets.values()].filter(isLongEnough).flatMap(formsOf));
  if (forms.size === 0) return unchanged;
  // Longest first, so that a form that holds another one goes as a whole.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
}

const isLongEnough = (secret: string): boolean => secret.length >= SECRET_CHARS_MIN;

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    bytes.toString('base64'),
    hex,
    hex.toUpperCase(),
    ...piecesInBase64(bytes),
  ];
}

/** What base64, of either alphabet, makes of bytes that others stand around: it depends on how many came before. */
function piecesInBase64(bytes: Buffer): readonly string[] {
  const pieces: string[] = [];
  for (let before = 0; before < GROUP_BYTES; before += 1) {
    // Characters that hold bits of what stands before or behind are left out.
    const from = Math.ceil((before * 8) / 6);
    const until = Math.floor(((before + bytes.length) * 8) / 6);
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const piece = padded.toString('base64').slice(from, until);
    if (piece.length >= PIECE_CHARS_MIN) pieces.push(piece, padded.toString('base64url').slice(from, until));
  }
  return pieces;
}

/**
 * The value without secrets, in its texts and in the names of its members; the very same one when it holds none.
 * @param value as JSON reads it
 * @throws E3308 for one that is nested too deeply to be searched
 */
export function hideInValue<Value>(value: Value, hide: HideSecrets): Value {
  return shown(value, hide, DEPTH_MAX) as Value;
}

function shown(value: unknown, hide: HideSecrets, levels: number): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw tooDeep();
  let isSame = true;
  const kept = <Part>(part: Part, after: Part): Part => {
    isSame &&= part === after;
    return after;
  };
  const copy = Array.isArray(value)
    ? value.map((entry: unknown) => kept(entry, shown(entry, hide, levels - 1)))
    : Object.fromEntries(
        Object.entries(value).map(([name, member]: [string, unknown]) => [
          kept(name, hide(name)),
          kept(member, shown(member, hide, levels - 1)),
        ]),
      );
  return isSame ? value : copy;
}

function tooDeep(): ToolLayerError {
  const message = `The result is nested more than ${DEPTH_MAX} levels deep, so that no credential can be taken out of it.`;
  return new ToolLayerError('E3308', message, { details: { reached: true } });
}
