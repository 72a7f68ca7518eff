// Everything independent of the call is in the plan of its tool version.

import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import { hideSecrets } from '../../external/hide-secrets.ts';
import { REFUSAL_BYTES_MAX, refusalOf } from '../../external/http-refusals.ts';
import {
  type AcceptHead,
  OUTBOUND_TIMES,
  type OutboundAnswer,
  type OutboundHttp,
  type OutboundTimes,
} from '../../external/outbound-http.ts';
import type { HttpOperation } from '../../registry/http-operation.ts';
import { abortReason } from '../abort-reason.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { neverAsks } from '../never-asks.ts';
import { configFaults } from './config-faults.ts';
import { type AccessTokens, createAccessTokens } from './oauth/access-tokens.ts';
import { NO_TOKENS, type Tokens, tokensOf } from './oauth/call-tokens.ts';
import { redirectOf } from './redirects.ts';
import { type BuiltRequest, buildRequest, planOf, type RequestPlan } from './request/plan.ts';
import { paginationOf } from './response/pagination.ts';
import { resultOf } from './response/result.ts';

/**
 * Share of a call's time within which a service must answer, so that a slow answer is reported as such before the call
 * times out.
 */
const ANSWER_SHARE = 0.95;
const UNAUTHORIZED = 401;
/** Most redirects followed within one call. */
const REDIRECTS_MAX = 3;
const USER_AGENT = 'sallyport';

/** Dependencies of the HTTP executor. */
export interface HttpExecutorParts {
  /** Shared with others; not closed with the executor. */
  readonly outbound: OutboundHttp;
  readonly clock: Clock;
}

/**
 * Runs tools whose `executor.config` is an `HttpOperation` (EXE-06). The result is an `HttpResult`.
 *
 * Errors: E3104 address outside the grant or not public, E3302 missing secret, E3303 429, E3304 5xx, E3306 the service
 * is slow, E3307 401 and 403, E3308 unreadable answer, E3309 any other refusal, E3310 not reachable, E3509 an argument
 * that cannot be put into a request, E3803 too many requests wait for the service, E3901 an operation that is
 * `not_callable`, and the signal's reason when it aborts.
 */
export function createHttpExecutor({ outbound, clock }: HttpExecutorParts): Executor {
  const way: Way = { outbound, clock, tokens: createAccessTokens(outbound, clock, USER_AGENT) };
  const run = (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => runCall(way, call, signal);
  return {
    kind: 'http',
    owns: ({ manifest }) => manifest.executor.kind === 'http',
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    ...neverAsks(run),
  };
}

/** Parts shared by all calls. */
interface Way extends HttpExecutorParts {
  readonly tokens: AccessTokens;
}

async function runCall(way: Way, call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> {
  if (signal.aborted) throw abortReason(signal);
  const plan = planOf(call.tool, USER_AGENT);
  if (plan.operation.not_callable !== undefined) throw notCallable(call.tool.manifest.tool_id, plan.operation);
  const request = (tokens: Tokens): BuiltRequest =>
    buildRequest(plan, call.parameters, { secrets: call.secrets, tokens: tokens.values });
  const tokens = plan.needsTokens ? await tokensOf(way.tokens, plan.operation, call, signal) : NO_TOKENS;
  const sent = request(tokens);
  const answer = await following(way, sent, call, signal);
  if (answer.status !== UNAUTHORIZED || !tokens.areKept) return outcomeOf(way, plan, call, { answer, sent, tokens });
  // A cached token may have been revoked; the service has done nothing, so one retry with a new token is safe.
  tokens.forget();
  const fresh = await tokensOf(way.tokens, plan.operation, call, signal);
  const again = request(fresh);
  return outcomeOf(way, plan, call, { answer: await following(way, again, call, signal), sent: again, tokens: fresh });
}

const notCallable = (toolId: string, { not_callable: reason }: HttpOperation): ToolLayerError =>
  new ToolLayerError('E3901', `${toolId} cannot be called by this layer: ${reason}.`, { details: { tool_id: toolId } });

/** The answer after redirects; every step is checked against the grant. */
async function following(
  way: Way,
  first: BuiltRequest,
  call: ExecutorCall,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const { network, limits } = call.grant;
  const accept: AcceptHead = ({ status }) => {
    const bytesMax = status >= 400 ? REFUSAL_BYTES_MAX : limits.outputBytesMax;
    return { wireBytesMax: bytesMax, bodyBytesMax: bytesMax };
  };
  const options = { allowed: network, times: timesWithin(limits.timeoutMs), signal };
  let request = first;
  let bytesSent = 0;
  let bytesReceived = 0;
  for (let steps = 0; steps <= REDIRECTS_MAX; steps += 1) {
    const answer = await way.outbound.send(request, accept, options);
    bytesSent += answer.bytesSent;
    bytesReceived += answer.bytesReceived;
    const next = redirectOf(answer, request);
    if (next === undefined) return { ...answer, bytesSent, bytesReceived };
    request = next;
  }
  throw new ToolLayerError('E3309', `${first.url.host} redirected more than ${REDIRECTS_MAX} times.`);
}

function timesWithin(timeoutMs: number): OutboundTimes {
  const { connectMs, answerMs, silenceMs } = OUTBOUND_TIMES;
  const most = Math.max(1, Math.floor(timeoutMs * ANSWER_SHARE));
  return {
    connectMs: Math.min(connectMs, most),
    answerMs: Math.min(answerMs, most),
    silenceMs: Math.min(silenceMs, most),
  };
}

interface Exchanged {
  readonly answer: OutboundAnswer;
  readonly sent: BuiltRequest;
  readonly tokens: Tokens;
}

function outcomeOf(
  { clock }: Way,
  plan: RequestPlan,
  call: ExecutorCall,
  { answer, sent, tokens }: Exchanged,
): ExecutorOutcome {
  const hide = hideSecrets(tokens.values.size === 0 ? call.secrets : new Map([...call.secrets, ...tokens.named]));
  const secretNames = [...call.secrets.keys()];
  const refusal = refusalOf(answer, { host: sent.url.host, secretNames, hide, now: clock.now() });
  if (refusal !== undefined) throw refusal;
  const { result, ...rounded } = resultOf(answer, call.grant.limits.outputBytesMax, hide);
  const pagination = paginationOf({ answer, body: result.body, url: sent.url, plan, call, hide });
  return {
    result: pagination === undefined ? result : { ...result, pagination },
    ...rounded,
    usage: {
      cpuMillicoreSeconds: 0,
      memoryPeakMb: 0,
      networkBytesSent: answer.bytesSent,
      networkBytesReceived: answer.bytesReceived,
    },
  };
}
