import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { givesCallResult } from '../../../domain/tool/call-result.ts';

/** Most bytes of UTF-8 that one UTF-16 unit takes. */
const UNIT_BYTES_MAX = 3;

/**
 * Cuts a result beyond the budget to its first part, and says so. The bytes that go out are counted: those of its JSON
 * over REST; over MCP, where the JSON of everything but a text is in a text block, those of that block, escaped once
 * more.
 * @param text canonical JSON of the result
 */
export function cutResult(
  result: unknown,
  text: string,
  bytesMax: number,
  manifest: Pick<ToolManifest, 'executor'>,
  warnings: Warning[],
): unknown {
  // An escaped unit has no more bytes than this either: JSON holds no raw control characters.
  if (text.length * UNIT_BYTES_MAX <= bytesMax) return result;
  // A result of MCP is passed on unchanged.
  const isPassedOn = typeof result === 'string' || givesCallResult(manifest);
  const bytes = Buffer.byteLength(isPassedOn ? text : JSON.stringify(text));
  if (bytes <= bytesMax) return result;
  warnings.push({
    code: 'result_cut',
    message: `The result has ${bytes} bytes and was cut to the first ${bytesMax}. Ask for less, or raise execution_config.output_bytes_max.`,
    details: { bytes, bytes_max: bytesMax },
  });
  return { truncated: true, bytes, preview: fitting(typeof result === 'string' ? result : text, bytesMax) };
}

/** The longest first part of a text that fits into this many bytes inside JSON inside JSON. */
function fitting(text: string, bytesMax: number): string {
  let bytes = 0;
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
