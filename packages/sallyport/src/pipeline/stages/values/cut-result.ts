import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { ExecutionLimits } from '../../../domain/invocation/grant.ts';
import { givesCallResult } from '../../../domain/tool/call-result.ts';
import { endWithinTokens } from '../../../model-facing/token-estimate.ts';
import { isTextOnly, readableText } from './readable-text.ts';

/** Bytes of the quotes around a text: counted, so that the first part of a text that is too long is never all of it. */
const QUOTES_BYTES = 2;
/** Most bytes of UTF-8 that one UTF-16 unit takes. */
const UNIT_BYTES_MAX = 3;
/** Most tokens that one UTF-16 unit counts for. */
const UNIT_TOKENS_MAX = 1.2;

/** The first part of a result that is too long. */
export interface Cut {
  readonly bytes: number;
  /** What of the result was counted and is too long. */
  readonly beyond: { readonly bytesMax: number } | { readonly tokensMax: number };
  readonly preview: string;
}

/**
 * The first part of a result beyond the budget; undefined for one within it. The bytes that go out are counted: those
 * of its JSON over REST; over MCP, where the JSON of everything but a text is in a text block, those of that block,
 * escaped once more. Tokens are estimated, of texts alone: pictures and sounds have none.
 * @param text canonical JSON of the result
 */
export function cutOf(
  result: unknown,
  text: string,
  { outputBytesMax, outputTokensMax }: Pick<ExecutionLimits, 'outputBytesMax' | 'outputTokensMax'>,
  manifest: Pick<ToolManifest, 'executor'>,
): Cut | undefined {
  const bytes = bytesBeyond(result, text, outputBytesMax, manifest);
  const tokensMax = outputTokensMax !== undefined && isTextOnly(result) ? outputTokensMax : undefined;
  const isLong = tokensMax !== undefined && text.length * UNIT_TOKENS_MAX > tokensMax;
  if (bytes === undefined && !isLong) return undefined;
  const readable = readableText(result, text);
  const end = isLong ? endWithinTokens(readable, 0, tokensMax) : readable.length;
  if (bytes === undefined && end === readable.length) return undefined;
  const fitted = fitting(readable.slice(0, end), outputBytesMax);
  const beyond = fitted.length < end || tokensMax === undefined ? { bytesMax: outputBytesMax } : { tokensMax };
  return { bytes: bytes ?? Buffer.byteLength(text), beyond, preview: fitted };
}

/** The bytes of a result that has too many; undefined for all others. */
function bytesBeyond(
  result: unknown,
  text: string,
  bytesMax: number,
  manifest: Pick<ToolManifest, 'executor'>,
): number | undefined {
  // An escaped unit has no more bytes than this either: JSON holds no raw control characters.
  if (text.length * UNIT_BYTES_MAX <= bytesMax) return undefined;
  // A result of MCP is passed on unchanged.
  const isPassedOn = typeof result === 'string' || givesCallResult(manifest);
  const bytes = Buffer.byteLength(isPassedOn ? text : JSON.stringify(text));
  return bytes <= bytesMax ? undefined : bytes;
}

/** The longest first part of a text that fits into this many bytes inside JSON inside JSON. */
function fitting(text: string, bytesMax: number): string {
  let bytes = QUOTES_BYTES;
  let at = 0;
  while (at < text.length) {
    const code = text.codePointAt(at) as number;
    bytes += bytesWithin(code);
    if (bytes > bytesMax) break;
    at += code > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}

/** Bytes of a character inside a JSON string inside a JSON string. */
function bytesWithin(code: number): number {
  if (code === 0x22 || code === 0x5c) return 4;
  if (code < 0x20) return SHORT.has(code) ? 3 : 7;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code > 0xffff) return 4;
  return code >= 0xd800 && code <= 0xdfff ? 7 : 3;
}

/** Backspace, tab, line feed, form feed and carriage return have escapes of two characters. */
const SHORT: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
