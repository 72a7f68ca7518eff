import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { roundedIn } from '@sallyport/std/json/json-text';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import { type HideSecrets, hideSecrets } from '../../external/hide-secrets.ts';
import { REFUSAL_BYTES_MAX, refusalOf } from '../../external/http-refusals.ts';
import { OUTBOUND_TIMES, type OutboundAnswer, type OutboundHttp } from '../../external/outbound-http.ts';
import { abortReason } from '../abort-reason.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { neverAsks } from '../never-asks.ts';
import type { ComposioConfig } from './composio-config.ts';
import { configFaults } from './config-faults.ts';

/** Dependencies of the Composio executor. */
export interface ComposioExecutorParts {
  /** The layer's outbound HTTP; not closed with the executor. */
  readonly outbound: OutboundHttp;
  readonly clock: Clock;
}

/** Result of a tool that reports its own failure. */
export interface ComposioFailure {
  readonly error: string;
  /** Data that it returned all the same. */
  readonly data?: unknown;
  /** Composio's name of the run, for its support. */
  readonly log_id?: string;
}

/**
 * Share of a call's time within which Composio must answer, so that a slow answer is reported as such before the call
 * times out.
 */
const ANSWER_SHARE = 0.95;
/** Characters allowed in a header: other ones in a secret could begin another header (RFC 9110 §5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/**
 * Runs tools of the Composio platform through its REST API (`POST /tools/execute/{slug}`, EXE-08). The result is the
 * `data` of the answer; a tool that reports its own failure gives a `ComposioFailure` as its result.
 *
 * Errors: E3102 the answer is larger than the call may return, E3104 address outside the grant, E3302 missing API key,
 * E3303 429, E3304 5xx, E3306 too slow, E3307 401 and 403, E3308 unreadable answer, E3309 any other refusal (no such
 * tool or account: its explanation is in the details), E3310 not reachable, and the signal's reason when it aborts.
 */
export function createComposioExecutor({ outbound, clock }: ComposioExecutorParts): Executor {
  const run = (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> =>
    runCall(outbound, clock, call, signal);
  return {
    kind: 'composio',
    owns: ({ manifest }) => manifest.executor.kind === 'composio',
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    ...neverAsks(run),
  };
}

async function runCall(
  outbound: OutboundHttp,
  clock: Clock,
  call: ExecutorCall,
  signal: AbortSignal,
): Promise<ExecutorOutcome> {
  if (signal.aborted) throw abortReason(signal);
  const config = call.tool.manifest.executor.config as unknown as ComposioConfig;
  const { network, limits } = call.grant;
  const url = new URL(`${config.base_url.replace(/\/+$/, '')}/tools/execute/${encodeURIComponent(config.tool)}`);
  const headers = { 'x-api-key': keyOf(config, call), 'content-type': 'application/json', accept: 'application/json' };
  const body = Buffer.from(JSON.stringify(requestOf(config, call)));
  const answer = await outbound.send(
    { url, method: 'POST', headers, body },
    ({ status }) => {
      const bytesMax = status >= 400 ? REFUSAL_BYTES_MAX : limits.outputBytesMax;
      return { wireBytesMax: bytesMax, bodyBytesMax: bytesMax };
    },
    { allowed: network, times: timesWithin(limits.timeoutMs), signal },
  );
  const hide = hideSecrets(call.secrets);
  const refusal = refusalOf(answer, { host: url.host, secretNames: [config.secret], hide, now: clock.now() });
  if (refusal !== undefined) throw refusal;
  return outcomeOf(answer, hide, limits.outputBytesMax);
}

function keyOf({ secret }: ComposioConfig, { secrets }: ExecutorCall): string {
  const key = secrets.get(secret);
  if (key !== undefined && HEADER_VALUE.test(key)) return key;
  const what = key === undefined ? 'is not given to the call' : 'holds characters that no header can carry';
  throw new ToolLayerError('E3302', `The secret ${secret} with the API key of Composio ${what}.`, {
    details: { missing: [secret] },
  });
}

/** The request in the API's form. The layer sets the user, never an argument of the tool. */
function requestOf(config: ComposioConfig, { parameters, principal }: ExecutorCall): Record<string, unknown> {
  const { connected_account_id, user_id, user_from, version } = config;
  const caller = user_from === 'tenant' ? principal.tenantId : principal.agentDid;
  const user = user_from === undefined ? user_id : caller;
  return {
    arguments: parameters,
    ...(connected_account_id === undefined ? {} : { connected_account_id }),
    ...(user === undefined ? {} : { user_id: user }),
    ...(version === undefined ? {} : { version }),
  };
}

function timesWithin(timeoutMs: number): typeof OUTBOUND_TIMES {
  const most = Math.max(1, Math.floor(timeoutMs * ANSWER_SHARE));
  const { connectMs, answerMs, silenceMs } = OUTBOUND_TIMES;
  return {
    connectMs: Math.min(connectMs, most),
    answerMs: Math.min(answerMs, most),
    silenceMs: Math.min(silenceMs, most),
  };
}

/** The API's body with status 200, for successes and failures of the tool. */
interface ComposioAnswer {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly successful?: unknown;
  readonly log_id?: unknown;
}

function outcomeOf(answer: OutboundAnswer, hide: HideSecrets, bytesMax: number): ExecutorOutcome {
  if (answer.truncated) {
    const message = `The tool gave more than the ${bytesMax} bytes that the call may return. Ask for less at once.`;
    throw new ToolLayerError('E3102', message, { details: { limit: 'output' } });
  }
  const usage = {
    cpuMillicoreSeconds: 0,
    memoryPeakMb: 0,
    networkBytesSent: answer.bytesSent,
    networkBytesReceived: answer.bytesReceived,
  };
  const text = hide(answer.body.toString('utf8'));
  const { data, error, successful, log_id } = parsed(text);
  if (successful === true) return { result: data ?? {}, usage, ...roundedData(text) };
  const result: ComposioFailure = {
    error: typeof error === 'string' && error !== '' ? error : 'The tool failed without a reason.',
    ...(isEmpty(data) ? {} : { data }),
    ...(typeof log_id === 'string' ? { log_id } : {}),
  };
  return { result, toolError: true, usage };
}

function roundedData(text: string): Pick<ExecutorOutcome, 'rounded'> {
  const rounded = roundedIn(text)
    .filter((place) => /^\/data(?:\/|$)/.test(place))
    .map((place) => place.slice('/data'.length));
  return rounded.length === 0 ? {} : { rounded };
}

function isEmpty(data: unknown): boolean {
  return data === undefined || data === null || (typeof data === 'object' && Object.keys(data).length === 0);
}

function parsed(text: string): ComposioAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unreadable(cause);
  }
  // Without the success flag nothing is known of the run.
  if (typeof value !== 'object' || value === null || !('successful' in value)) throw unreadable(undefined);
  return value;
}

function unreadable(cause: unknown): ToolLayerError {
  return new ToolLayerError('E3308', 'Composio answered with something that is not the result of a tool.', {
    ...(cause === undefined ? {} : { cause }),
  });
}
