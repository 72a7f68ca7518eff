import { setImmediate as nextTurn } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { LogListener } from '../domain/invocation/log-message.ts';

/** Shortest secret that is hidden, in characters: hiding `1` would garble a tool's text. */
const SECRET_CHARS_MIN = 6;
/** Shortest hidden base64 fragment of a secret among other bytes, in characters. */
const PIECE_CHARS_MIN = 12;
/** Bytes that base64 encodes together, as four characters. */
const GROUP_BYTES = 3;
/** Most levels of a value searched for secrets; honest values are less deep. */
const DEPTH_MAX = 512;
/** Bytes searched between two turns of the event loop. */
const SEARCHED_BYTES = 256 * KiB;
const HIDDEN = '[hidden]';

/** Removes the secrets of one call from a text. */
export type HideSecrets = (text: string) => string;

const unchanged: HideSecrets = (text) => text;

/**
 * Makes a function that hides these secrets, also in base64, in hexadecimal, within a URL or with JSON escapes. A tool
 * may echo its input, and neither a model nor a record may see secrets.
 * @param secrets values by name; values shorter than six characters are not hidden, because that would garble other
 *   text
 */
export function hideSecrets(secrets: ReadonlyMap<string, string>): HideSecrets {
  const forms = new Set([...secrets.values()].filter(isLongEnough).flatMap(formsOf));
  if (forms.size === 0) return unchanged;
  // Longest first, so that a form that contains another is hidden whole.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
}

/**
 * Makes a function that searches bytes for these secrets, in every form that `hideSecrets` hides. It leaves the event
 * loop its turns between parts of long bytes.
 * @returns undefined when no secret is long enough
 */
export function secretSearch(
  secrets: ReadonlyMap<string, string>,
): ((bytes: Uint8Array) => Promise<boolean>) | undefined {
  const forms = [...secrets.values()]
    .filter(isLongEnough)
    .flatMap(formsOf)
    .map((form) => Buffer.from(form));
  if (forms.length === 0) return undefined;
  const overlap = Math.max(...forms.map(({ length }) => length));
  return async (bytes) => {
    for (let from = 0; from < bytes.length; from += SEARCHED_BYTES) {
      if (from > 0) await nextTurn();
      const part = Buffer.from(
        bytes.buffer,
        bytes.byteOffset + from,
        Math.min(SEARCHED_BYTES + overlap, bytes.length - from),
      );
      if (forms.some((form) => part.includes(form))) return true;
    }
    return false;
  };
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

/** The base64 forms, in both alphabets, of bytes surrounded by others: they depend on the number of preceding bytes. */
function piecesInBase64(bytes: Buffer): readonly string[] {
  const pieces: string[] = [];
  for (let before = 0; before < GROUP_BYTES; before += 1) {
    // Characters that also encode bits of neighbouring bytes are excluded.
    const from = Math.ceil((before * 8) / 6);
    const until = Math.floor(((before + bytes.length) * 8) / 6);
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const piece = padded.toString('base64').slice(from, until);
    if (piece.length >= PIECE_CHARS_MIN) pieces.push(piece, padded.toString('base64url').slice(from, until));
  }
  return pieces;
}

/**
 * The value with secrets removed from its texts and member names; the same object when it contains none.
 * @param value as parsed from JSON
 * @throws E3308 for a value nested too deeply to be searched
 */
export function hideInValue<Value>(value: Value, hide: HideSecrets): Value {
  return shown(value, hide, DEPTH_MAX) as Value;
}

/** The same listener, for messages without the secrets. */
export function hidingLogs(logs: LogListener, hide: HideSecrets): LogListener {
  return {
    get level() {
      return logs.level;
    },
    take: (message) => logs.take(hideInValue(message, hide)),
  };
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
