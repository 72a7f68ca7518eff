import type { DryRunResponse } from '../../../../api/schemas/calls/dry-run.ts';
import type { ToolErrorBody } from '../../../../api/schemas/error.ts';
import type { ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { toolErrorText } from '../../../operations/error-for-model.ts';
import { errorAnswer, RPC, type RpcAnswer, type RpcId, resultAnswer } from '../../json-rpc.ts';
import { type Era, META_SERVER } from '../../mcp-protocol.ts';
import { errorEntry, protocolError } from '../../mcp-server.ts';

/** The fixed parts around a result in each era, as JSON text. */
export interface ResultFrame {
  readonly era: Era;
  /** Name and version of this server. */
  readonly server: { readonly name: string; readonly version: string };
  /** First members of every result, with a trailing comma when there are any. */
  readonly opening: string;
  /** First members of `_meta`, with a trailing comma when there are any. */
  readonly metaOpening: string;
  /**
   * The model named the tool in an argument: an unknown tool is then the model's mistake, not the client developer's.
   */
  readonly modelNames: boolean;
}

export function resultFrame(era: Era, server: ResultFrame['server'], modelNames: boolean): ResultFrame {
  const modern = era === 'modern';
  return {
    era,
    server,
    opening: modern ? '"resultType":"complete",' : '',
    metaOpening: modern ? `"${META_SERVER}":${JSON.stringify(server)},` : '',
    modelNames,
  };
}

/** True when a result has the shape of MCP servers' results; only then must its tool be known. */
export function looksLikeCallResult(value: unknown): value is Record<string, unknown> {
  return isObject(value) && Array.isArray(value['content']);
}

/**
 * The answer of a successful call.
 * @param fromMcp the tool gives a CallToolResult of MCP
 */
export function happyAnswer(id: RpcId, response: ToolInvokeResponse, fromMcp: boolean, frame: ResultFrame): RpcAnswer {
  const { result } = response;
  if (fromMcp && isObject(result)) return passOn(id, result, response, false, frame);
  const json = JSON.stringify(result);
  const content = contentOf(result, json);
  // A truncated result no longer fits the tool's output schema, and repeating it would exceed the limit.
  const isCut = response.warnings?.some(({ code }) => code === 'result_cut') === true;
  const structured = isObject(result) && !isCut ? `,"structuredContent":${json}` : '';
  const said = forModel(response).map((block) => JSON.stringify(block));
  const all = said.length === 0 ? content : `[${[content.slice(1, -1), ...said].filter(Boolean).join()}]`;
  return resultAnswer(id, `{${frame.opening}"content":${all}${structured},"_meta":${metaText(response, frame)}}`);
}

/** The answer of one of the gateway's own tools. */
export function ownAnswer(id: RpcId, result: object, frame: ResultFrame): RpcAnswer {
  const json = JSON.stringify(result);
  const meta = frame.metaOpening === '' ? '' : `,"_meta":{${frame.metaOpening.slice(0, -1)}}`;
  return resultAnswer(id, `{${frame.opening}"content":${contentOf(result, json)},"structuredContent":${json}${meta}}`);
}

/**
 * The answer of a dry run. Clients get it as an error, because the tool did not run: in a success they would validate
 * the structured content against the tool's output schema.
 */
export function dryRunAnswer(id: RpcId, dryRun: DryRunResponse, frame: ResultFrame): RpcAnswer {
  const json = JSON.stringify(dryRun);
  const meta = `{${frame.metaOpening}"sallyport/dry_run":${json}}`;
  return resultAnswer(id, `{${frame.opening}"content":${contentOf(dryRun, json)},"isError":true,"_meta":${meta}}`);
}

/** The answer of a failed call: a result for the model where the model can act on it, otherwise a protocol error. */
export function unhappyAnswer(
  id: RpcId,
  error: ToolErrorBody,
  response: ToolInvokeResponse | undefined,
  frame: ResultFrame,
): RpcAnswer {
  const ofEra = errorOfEra(id, error, frame.era);
  if (ofEra !== undefined) return ofEra;
  const entry = errorEntry(error.e_code);
  const isForModel = entry.rpc === 'result' || (frame.modelNames && entry.rpc === RPC.invalidParams);
  if (!isForModel) return protocolError(id, error, entry);
  const reported = error.details?.['result'];
  if (response !== undefined && looksLikeCallResult(reported)) return passOn(id, reported, response, true, frame);
  const content = JSON.stringify([{ type: 'text', text: toolErrorText(error) }, ...forModel(response)]);
  const meta = `{${frame.metaOpening}${idMember(response)}"error":${JSON.stringify(errorMeta(error))}${warningsMember(response)}}`;
  return resultAnswer(id, `{${frame.opening}"content":${content},"isError":true,"_meta":${meta}}`);
}

/**
 * Errors that the protocol of an era has a code for, because the client itself can do something about them: it lacks a
 * capability that the tool needs (2026-07-28), or its user has to open an address first (2025-11-25).
 */
export function errorOfEra(
  id: RpcId,
  { message, details, e_code, code }: ToolErrorBody,
  era: Era,
): RpcAnswer | undefined {
  const { required_capabilities: requiredCapabilities, rpc_code, rpc_data } = details ?? {};
  if (era === 'modern' && isObject(requiredCapabilities))
    return errorAnswer(id, RPC.missingCapability, message, { requiredCapabilities, e_code, code }, 400);
  if (era === 'legacy' && rpc_code === RPC.urlElicitationRequired && isObject(rpc_data))
    return errorAnswer(id, rpc_code, message, { ...rpc_data, e_code, code });
  return undefined;
}

/** Passes an upstream's CallToolResult on unchanged, with our `_meta`. */
function passOn(
  id: RpcId,
  result: Record<string, unknown>,
  response: ToolInvokeResponse,
  isError: boolean,
  frame: ResultFrame,
): RpcAnswer {
  const { _meta, ...rest } = result;
  const texts = forModel(response);
  const passed = {
    ...rest,
    ...(texts.length === 0 || !Array.isArray(rest['content']) ? {} : { content: [...rest['content'], ...texts] }),
    ...(frame.era === 'modern' ? { resultType: 'complete' } : {}),
    ...(isError ? { isError } : {}),
    _meta: passedMeta(_meta, response, frame),
  };
  return resultAnswer(id, JSON.stringify(passed));
}

/** An upstream's own `_meta` of a result, with ours. */
export function passedMeta(meta: unknown, response: ToolInvokeResponse, frame: ResultFrame): object {
  const { warnings = [] } = response;
  // Entries of an upstream under the name of our warnings are dropped.
  const { warnings: _spoofed, ...given } = isObject(meta) ? meta : {};
  return {
    ...given,
    ...(frame.era === 'modern' ? { [META_SERVER]: frame.server } : {}),
    invocation_id: response.invocation_id,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** Codes of such warnings. */
const FOR_MODELS: ReadonlySet<string> = new Set(['question_unanswered', 'result_filtered']);

/** Warnings that a model needs to understand the result; all others are for the client alone. */
function forModel(response: ToolInvokeResponse | undefined): readonly { type: 'text'; text: string }[] {
  const needed = response?.warnings?.filter(({ code }) => FOR_MODELS.has(code)) ?? [];
  return needed.map(({ message }) => ({ type: 'text', text: message }));
}

function contentOf(result: unknown, json: string | undefined): string {
  if (json === undefined) return '[]';
  return `[{"type":"text","text":${typeof result === 'string' ? json : JSON.stringify(json)}}]`;
}

function metaText(response: ToolInvokeResponse, frame: ResultFrame): string {
  return `{${frame.metaOpening}"invocation_id":${JSON.stringify(response.invocation_id)}${warningsMember(response)}}`;
}

function warningsMember(response: ToolInvokeResponse | undefined): string {
  const { warnings = [] } = response ?? {};
  return warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
}

function idMember(response: ToolInvokeResponse | undefined): string {
  return response === undefined ? '' : `"invocation_id":${JSON.stringify(response.invocation_id)},`;
}

/**
 * For programs; the text block is for the model. Only it advises on retrying: a call with other arguments may count as
 * a retry too.
 */
function errorMeta(error: ToolErrorBody): Record<string, unknown> {
  const { code, e_code, category, retry_after_ms, details } = error;
  const { rpc_code, rpc_data } = details ?? {};
  return {
    code,
    e_code,
    category,
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
    ...(typeof rpc_code === 'number' ? { upstream: { code: rpc_code, data: rpc_data } } : {}),
  };
}
