import type { DryRunResponse } from '../../../../api/schemas/calls/dry-run.ts';
import type { ToolErrorBody } from '../../../../api/schemas/error.ts';
import type { ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { toolErrorText } from '../../../operations/error-for-model.ts';
import { RPC, type RpcAnswer, type RpcId, resultAnswer } from '../../json-rpc.ts';
import { type Era, META_SERVER } from '../../mcp-protocol.ts';
import { errorEntry, protocolError } from '../../mcp-server.ts';

/** What frames a result in each era, as JSON text. */
export interface ResultFrame {
  readonly era: Era;
  /** Name and version of this server. */
  readonly server: { readonly name: string; readonly version: string };
  /** First members of every result, with a comma at the end where there are any. */
  readonly opening: string;
  /** First members of `_meta`, with a comma at the end where there are any. */
  readonly metaOpening: string;
  /** The model named the tool in an argument: that there is none is for it to mend, not for the client's developer. */
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

/** Whether a result has the shape that MCP servers answer with; only then its tool's kind must be known. */
export function looksLikeCallResult(value: unknown): value is Record<string, unknown> {
  return isObject(value) && Array.isArray(value['content']);
}

/**
 * The answer of a call that went well.
 * @param fromMcp the tool is an MCP server's: its result is a CallToolResult already
 */
export function happyAnswer(id: RpcId, response: ToolInvokeResponse, fromMcp: boolean, frame: ResultFrame): RpcAnswer {
  const { result } = response;
  if (fromMcp && isObject(result)) return passOn(id, result, response, false, frame);
  const json = JSON.stringify(result);
  const content = contentOf(result, json);
  // What was cut is not what the tool's schema promises, and twice it would be beyond the bound.
  const isCut = response.warnings?.some(({ code }) => code === 'result_cut') === true;
  const structured = isObject(result) && !isCut ? `,"structuredContent":${json}` : '';
  return resultAnswer(id, `{${frame.opening}"content":${content}${structured},"_meta":${metaText(response, frame)}}`);
}

/** The answer of a tool of the gateway's own. */
export function ownAnswer(id: RpcId, result: object, frame: ResultFrame): RpcAnswer {
  const json = JSON.stringify(result);
  const meta = frame.metaOpening === '' ? '' : `,"_meta":{${frame.metaOpening.slice(0, -1)}}`;
  return resultAnswer(id, `{${frame.opening}"content":${contentOf(result, json)},"structuredContent":${json}${meta}}`);
}

/**
 * The answer of a dry run. It is an error to clients, because the tool did not run: of a happy answer they would check
 * that its structured content is what the tool promises.
 */
export function dryRunAnswer(id: RpcId, told: DryRunResponse, frame: ResultFrame): RpcAnswer {
  const json = JSON.stringify(told);
  const meta = `{${frame.metaOpening}"sallyport/dry_run":${json}}`;
  return resultAnswer(id, `{${frame.opening}"content":${contentOf(told, json)},"isError":true,"_meta":${meta}}`);
}

/** The answer of a call that did not go well: for the model where it can act on it, otherwise a protocol error. */
export function unhappyAnswer(
  id: RpcId,
  error: ToolErrorBody,
  response: ToolInvokeResponse | undefined,
  frame: ResultFrame,
): RpcAnswer {
  const entry = errorEntry(error.e_code);
  const isForModel = entry.rpc === 'result' || (frame.modelNames && entry.rpc === RPC.invalidParams);
  if (!isForModel) return protocolError(id, error, entry);
  const reported = error.details?.['result'];
  if (response !== undefined && looksLikeCallResult(reported)) return passOn(id, reported, response, true, frame);
  const content = JSON.stringify([{ type: 'text', text: toolErrorText(error) }, ...forModel(response)]);
  const meta = `{${frame.metaOpening}${idMember(response)}"error":${JSON.stringify(errorMeta(error))}${warningsMember(response)}}`;
  return resultAnswer(id, `{${frame.opening}"content":${content},"isError":true,"_meta":${meta}}`);
}

/** A CallToolResult of an upstream as it came, under our `_meta`. */
function passOn(
  id: RpcId,
  result: Record<string, unknown>,
  response: ToolInvokeResponse,
  isError: boolean,
  frame: ResultFrame,
): RpcAnswer {
  const { _meta, ...rest } = result;
  const { warnings = [] } = response;
  // What an upstream calls warnings of ours are none.
  const { warnings: _spoofed, ...given } = isObject(_meta) ? _meta : {};
  const meta = {
    ...given,
    ...(frame.era === 'modern' ? { [META_SERVER]: frame.server } : {}),
    invocation_id: response.invocation_id,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  const told = forModel(response);
  const passed = {
    ...rest,
    ...(told.length === 0 || !Array.isArray(rest['content']) ? {} : { content: [...rest['content'], ...told] }),
    ...(frame.era === 'modern' ? { resultType: 'complete' } : {}),
    ...(isError ? { isError } : {}),
    _meta: meta,
  };
  return resultAnswer(id, JSON.stringify(passed));
}

/** Warnings that a model has to know of to understand the result; all others are for the client alone. */
function forModel(response: ToolInvokeResponse | undefined): readonly { type: 'text'; text: string }[] {
  const told = response?.warnings?.filter(({ code }) => code === 'question_unanswered') ?? [];
  return told.map(({ message }) => ({ type: 'text', text: message }));
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

/** For programs; the text block is for the model, and says alone whether to try again: with other arguments may count too. */
function errorMeta(error: ToolErrorBody): Record<string, unknown> {
  const { code, e_code, category, retry_after_ms } = error;
  return { code, e_code, category, ...(retry_after_ms === undefined ? {} : { retry_after_ms }) };
}
