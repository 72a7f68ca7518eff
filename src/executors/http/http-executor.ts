// Hot path: what does not depend on the call is in the plan of its tool version.
import { ToolLayerError } from '../../domain/error/tool-layer-error.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import { createEgressGuard, type EgressGuard } from '../../external/egress-guard.ts';
import type { HttpOperation } from '../../registry/http-operation.ts';
import { type Clock, systemClock } from '../../std/clock.ts';
import { abortReason } from '../abort-reason.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { type HideSecrets, hideSecrets } from '../hide-secrets.ts';
import { configFaults } from './config-faults.ts';
import { type BodyBound, createSender, type Exchange, type Sender } from './exchange.ts';
import { redirectOf } from './redirects.ts';
import { type BuiltRequest, buildRequest, planOf } from './request/plan.ts';
import { refusalOf } from './response/refusals.ts';
import { resultOf } from './response/result.ts';
import { HTTP_EXECUTOR_DEFAULTS, type HttpExecutorSettings } from './settings.ts';

/** Part of a refusing answer that is read, in bytes. */
const REFUSAL_BYTES_MAX = 8192;

/** What the HTTP executor stands on; everything has a default. */
export interface HttpExecutorParts {
  readonly guard?: EgressGuard;
  readonly settings?: Partial<HttpExecutorSettings>;
  readonly clock?: Clock;
  /** Certificate authorities in PEM that replace the ones Node brings. */
  readonly ca?: string;
}

/**
 * Runs tools whose `executor.config` is an `HttpOperation` (EXE-06). The result is an `HttpResult`.
 *
 * Errors: E3104 address outside the grant or not public, E3302 missing secret, E3303 429, E3304 5xx, E3307 401 and 403,
 * E3308 unreadable answer, E3309 any other refusal, E3310 not reachable, E3509 an argument that cannot stand in a
 * request, E3901 an operation that is `not_callable`, the reason of the signal when it fires. Disposing closes the kept connections.
 */
export function createHttpExecutor(parts: HttpExecutorParts = {}): Executor & Disposable {
  const guard = parts.guard ?? createEgressGuard();
  const settings = { ...HTTP_EXECUTOR_DEFAULTS, ...parts.settings };
  const sender = createSender(guard, settings, parts.ca);
  const clock = parts.clock ?? systemClock;

  const run = async (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => {
    if (signal.aborted) throw abortReason(signal);
    const plan = planOf(call.tool, settings.userAgent);
    if (plan.operation.not_callable !== undefined) throw notCallable(call.tool.manifest.tool_id, plan.operation);
    const request = buildRequest(plan, call.parameters, call.secrets);
    const hide = hideSecrets(call.secrets);
    const answer = await following({ sender, guard, settings }, request, call, signal);
    return outcomeOf(answer, request, call, hide, clock.now());
  };
  return {
    kind: 'http',
    owns: ({ manifest }) => manifest.executor.kind === 'http',
    requiresConfirmation: () => false,
    definitions: () => [],
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    execute: run,
    // The same checks stand on both paths, because there is one way to a request only.
    executeConfirmed: run,
    [Symbol.dispose]: () => sender[Symbol.dispose](),
  };
}

const notCallable = (toolId: string, { not_callable: reason }: HttpOperation): ToolLayerError =>
  new ToolLayerError('E3901', `${toolId} cannot be called by this layer: ${reason}.`, { details: { tool_id: toolId } });

interface Way {
  readonly sender: Sender;
  readonly guard: EgressGuard;
  readonly settings: HttpExecutorSettings;
}

/** The answer at the end of the redirects; every step is checked against the grant. */
async function following(way: Way, first: BuiltRequest, call: ExecutorCall, signal: AbortSignal): Promise<Exchange> {
  const { network, limits } = call.grant;
  const bound: BodyBound = (status) => (status >= 400 ? REFUSAL_BYTES_MAX : limits.outputBytesMax);
  let request = first;
  let bytesSent = 0;
  let bytesReceived = 0;
  for (let steps = 0; steps <= way.settings.redirectsMax; steps += 1) {
    const answer = await way.sender.exchange(request, way.guard.admit(request.url, network), bound, signal);
    bytesSent += answer.bytesSent;
    bytesReceived += answer.bytesReceived;
    const next = redirectOf(answer, request);
    if (next === undefined) return { ...answer, bytesSent, bytesReceived };
    request = next;
  }
  throw new ToolLayerError('E3309', `${first.url.host} redirected more than ${way.settings.redirectsMax} times.`);
}

function outcomeOf(
  answer: Exchange,
  { url }: BuiltRequest,
  call: ExecutorCall,
  hide: HideSecrets,
  now: number,
): ExecutorOutcome {
  const refusal = refusalOf(answer, { host: url.host, secretNames: [...call.secrets.keys()], hide, now });
  if (refusal !== undefined) throw refusal;
  return {
    result: resultOf(answer, call.grant.limits.outputBytesMax, hide),
    usage: {
      cpuMillicoreSeconds: 0,
      memoryPeakMb: 0,
      networkBytesSent: answer.bytesSent,
      networkBytesReceived: answer.bytesReceived,
    },
  };
}
