import { ProtocolError, SdkError } from '@modelcontextprotocol/client';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { QUESTION_KINDS } from '../../domain/questions/client-question.ts';
import { isObject } from '../../domain/shape/is-object.ts';

const TEXT_CHARS_MAX = 1_000;
/** JSON-RPC: parse error, invalid request, unknown method, invalid parameters; MCP before 2026: no such resource. */
const REFUSALS = new Set([-32700, -32600, -32601, -32602, -32002]);
/** MCP 2026-07-28: the request needs a capability that its client did not declare. */
const MISSING_CAPABILITY = -32021;

/** True when the request was never sent, because the connection had ended before. */
export function neverLeft(thrown: unknown): boolean {
  if (thrown instanceof ToolLayerError) return thrown.failure.details?.['session_gone'] === true;
  return thrown instanceof SdkError && thrown.code === 'NOT_CONNECTED';
}

/** The error for a connection that ended before a request was sent; `neverLeft` recognises it. */
export function notConnected(name: string): ToolLayerError {
  return new ToolLayerError('E3310', `The upstream '${name}' is not connected.`, {
    details: { reached: false, session_gone: true },
  });
}

/** The layer's error for a failed call; `details.reached` says whether the server may have acted on it. */
export function callFailure(name: string, thrown: unknown, signal: AbortSignal | undefined): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  if (signal?.aborted === true) {
    return new ToolLayerError('E3805', `The call to the upstream '${name}' was cancelled.`, {
      cause: thrown,
      details: { reached: true },
    });
  }
  if (thrown instanceof ProtocolError) {
    const lacks = requiredCapabilitiesIn(thrown);
    if (lacks !== undefined)
      return new ToolLayerError(
        'E3821',
        `The upstream '${name}' needs more of the client than it can do: ${thrown.message.slice(0, TEXT_CHARS_MAX)}`,
        {
          cause: thrown,
          details: { reached: true, required_capabilities: lacks },
        },
      );
    const text = thrown.message.slice(0, TEXT_CHARS_MAX);
    const refused = REFUSALS.has(thrown.code);
    return new ToolLayerError(
      refused ? 'E3309' : 'E3109',
      `The upstream '${name}' ${refused ? 'refused the call' : 'reported an error'} (${thrown.code}): ${text}`,
      { cause: thrown, details: { reached: true, rpc_code: thrown.code, ...dataOf(thrown) } },
    );
  }
  if (neverLeft(thrown)) {
    return new ToolLayerError('E3310', `The upstream '${name}' is not connected.`, {
      cause: thrown,
      details: { reached: false },
    });
  }
  return new ToolLayerError('E3308', `The upstream '${name}' sent something that cannot be read.`, {
    cause: thrown,
    details: { reached: true },
  });
}

/** Longest data of an error that is passed on, in characters of JSON. */
const DATA_CHARS_MAX = 4 * KiB;

/** The data of an upstream's error, for programs: what it means is the upstream's own affair. */
function dataOf({ data }: ProtocolError): { readonly rpc_data?: unknown } {
  if (data === undefined || JSON.stringify(data).length > DATA_CHARS_MAX) return {};
  return { rpc_data: data };
}

/** The capabilities of a client that a call needs, as its server says (2026-07-28). Only known ones are named. */
function requiredCapabilitiesIn({ code, data }: ProtocolError): Readonly<Record<string, unknown>> | undefined {
  if (code !== MISSING_CAPABILITY || !isObject(data) || !isObject(data['requiredCapabilities'])) return undefined;
  const required = data['requiredCapabilities'];
  const known = QUESTION_KINDS.filter((kind) => isObject(required[kind]));
  return known.length === 0 ? undefined : Object.fromEntries(known.map((kind) => [kind, {}]));
}

/** @param disabled an operator disabled the upstream, so that waiting does not help */
export function stopped(name: string, disabled = false): ToolLayerError {
  const message = disabled
    ? `The upstream '${name}' is disabled. Its operator starts it with: sallyport upstreams enable ${name}`
    : `The upstream '${name}' is stopped.`;
  return new ToolLayerError('E3310', message, { details: { reached: false, ...(disabled ? { disabled } : {}) } });
}

/** The error for a name that no upstream of the tenant has. */
export function unknownUpstream(name: string): ToolLayerError {
  return new ToolLayerError('E3809', `There is no upstream '${name}'.`, { details: { reached: false } });
}

/** The error for one upstream more than a tenant may have. */
export function tooManyUpstreams(max: number): ToolLayerError {
  return new ToolLayerError('E3102', `The tenant has ${max} upstreams, as many as it may. Remove one first.`);
}

/** The error while the layer stops. */
export function closedDown(): ToolLayerError {
  return new ToolLayerError('E3811', 'The layer is stopping.', { details: { reached: false } });
}
