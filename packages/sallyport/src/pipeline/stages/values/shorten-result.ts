import { isFailure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { isServerMethod } from '../../../domain/tool/server-methods.ts';
import { serverToolOf } from '../../../domain/tool/server-tool.ts';
import type { FilteredCall } from '../../../model-facing/output-filter.ts';
import type { FilteredResult } from '../../../model-facing/output-filters.ts';
import type { Authorized, Resolved, Validated } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { type Cut, cutOf } from './cut-result.ts';
import { markResult } from './mark-result.ts';
import { readableText } from './readable-text.ts';
import type { Turns } from './turns.ts';

/** Dependencies of shortening. */
export type ShortenParts = Pick<PipelineParts, 'schemas' | 'values' | 'outputFilters' | 'overflows'>;

/** A result that is about to be answered. */
export interface JudgedResult {
  readonly invocationId: string;
  readonly result: unknown;
  /** Its canonical JSON. */
  readonly text: string;
}

type Call = Resolved & Validated & Authorized;

/**
 * Makes a result short enough for its reader: output filters leave lines out, and what is beyond the budget is cut
 * (MOD-06, MOD-10). The whole text is kept for `read_overflow`, and a warning says so. Filters see a result after
 * redaction and after its judgement; what they make of it is judged again, and must fit the tool's schema.
 * @param redact takes out of the whole text what the caller must not see; default: nothing is left to take out
 */
export async function shortenResult(
  parts: ShortenParts,
  call: Call,
  { invocationId, result, text }: JudgedResult,
  { warnings, turn }: { readonly warnings: Warning[]; readonly turn: Turns },
  redact: (result: unknown) => unknown = (same) => same,
): Promise<unknown> {
  const { outputBytesMax } = call.grant.limits;
  // What a client reads of a server is for the client, whole or not at all.
  const isRead = isServerMethod(serverToolOf(call.tool.manifest)?.tool);
  const filtered = isRead ? undefined : await filteredResult(parts, call, result, warnings, turn);
  const shown = filtered === undefined ? result : filtered.result;
  const json = filtered === undefined ? text : canonicalJson(shown);
  const cut = cutOf(shown, json, isRead ? { outputBytesMax } : call.grant.limits, call.tool.manifest);
  if (filtered === undefined && cut === undefined) return result;
  const whole = redact(result);
  const kept = readableText(whole, whole === result ? text : canonicalJson(whole));
  // What the redaction saw only after lines were left out is still in the whole text.
  const isKept = filtered?.hides !== true && (await parts.overflows.keep(call.principal, invocationId, kept));
  const overflowAt = (offset: number): OverflowMembers =>
    isKept ? { overflow: { invocation_id: invocationId, offset } } : {};
  if (filtered !== undefined)
    warnings.push(filteredWarning(filtered, kept.length, readableText(shown, json).length, overflowAt(0)));
  if (cut === undefined) return shown;
  const next = overflowAt(filtered === undefined && whole === result ? cut.preview.length : 0);
  warnings.push(cutWarning(cut, next));
  const { overflow } = next;
  const rest = overflow === undefined ? {} : { rest: { tool: 'read_overflow', arguments: overflow } };
  return { truncated: true, bytes: cut.bytes, preview: cut.preview, ...rest };
}

/** The place in the overflow where a reader continues; empty when no overflow is kept. */
interface OverflowMembers {
  readonly overflow?: { readonly invocation_id: string; readonly offset: number };
}

interface JudgedFiltering extends FilteredResult {
  /** The judgement of what was left took something out of it. */
  readonly hides: boolean;
}

/** What output filters made of a result, judged again. */
async function filteredResult(
  { schemas, values, outputFilters }: ShortenParts,
  { tool: { manifest }, executor, tool, parameters }: Call,
  result: unknown,
  warnings: Warning[],
  turn: Turns,
): Promise<JudgedFiltering | undefined> {
  if (outputFilters === undefined) return undefined;
  const callOf = (): FilteredCall => {
    const command = executor.commandOf?.(tool, parameters)?.join(' ');
    return { toolId: manifest.tool_id, arguments: parameters, ...(command === undefined ? {} : { command }) };
  };
  const filtered = await outputFilters.filter(result, callOf, turn, (made) => fitsSchemas(schemas, manifest, made));
  if (filtered === undefined) return undefined;
  // Lines that were apart now meet: together they may read like an instruction, or be a secret.
  const found: Warning[] = [];
  const marked = await markResult(values, filtered.result, found, turn);
  if (isFailure(marked)) return undefined;
  const known = new Set(warnings.map(({ code }) => code));
  warnings.push(...found.filter(({ code }) => !known.has(code)));
  return { ...filtered, result: marked.result, hides: marked.result !== filtered.result };
}

/** True when a filtered result is still what the tool, or the server of an MCP tool, promises. */
function fitsSchemas(schemas: ShortenParts['schemas'], manifest: ToolManifest, result: unknown): boolean {
  const { result_schema, executor } = manifest;
  if (!fits(schemas, result_schema, result)) return false;
  const structured = isObject(result) ? result['structuredContent'] : undefined;
  const promised = executor.kind === 'mcp' ? executor.config?.['output_schema'] : undefined;
  return structured === undefined || !isObject(promised) || fits(schemas, promised, structured);
}

function fits(
  schemas: ShortenParts['schemas'],
  schema: Readonly<Record<string, unknown>> | undefined,
  value: unknown,
): boolean {
  if (schema === undefined) return true;
  const compiled = schemas.compile(schema);
  return !isFailure(compiled) && compiled.check(value, { coerce: false }).faults.length === 0;
}

function filteredWarning(
  { filters }: FilteredResult,
  charactersBefore: number,
  characters: number,
  members: OverflowMembers,
): Warning {
  const named = filters.map(({ filter, confidence }) => `${filter}, ${confidence}`).join('; ');
  const where = wholeIn(members);
  return {
    code: 'result_filtered',
    message: `Lines of the result were left out by output filters of the operator (${named}). ${where}`,
    details: { filters, characters, characters_before: charactersBefore, ...members },
  };
}

function cutWarning({ bytes, beyond }: Cut, members: OverflowMembers): Warning {
  const [size, limit, details] =
    'bytesMax' in beyond
      ? [`the first ${beyond.bytesMax}`, 'output_bytes_max', { bytes_max: beyond.bytesMax }]
      : [`about ${beyond.tokensMax} tokens`, 'output_tokens_max', { tokens_max: beyond.tokensMax }];
  return {
    code: 'result_cut',
    message: `The result has ${bytes} bytes and was cut to ${size}. ${wholeIn(members)} Or ask for less, or raise execution_config.${limit}.`,
    details: { bytes, ...details, ...members },
  };
}

function wholeIn({ overflow }: OverflowMembers): string {
  if (overflow === undefined) return 'The rest was not kept.';
  return `Read the rest with read_overflow, invocation_id ${overflow.invocation_id}, offset ${overflow.offset}.`;
}
