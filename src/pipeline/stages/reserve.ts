// Hot path: without a quota and a rate limit, one slot is counted.
import type { RateLimit } from '../../../api/schemas/tool-manifest.ts';
import { type Failure, failure, isFailure } from '../../domain/error/failure.ts';
import type { Approved, CallRequest, Reserved, Resolved } from '../call.ts';
import { agentKey } from '../flight/running-calls.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';

type Parts = Pick<PipelineParts, 'running' | 'rateLimiter' | 'limits' | 'quota'>;

/** Wait that is advised when an agent's slots are taken. */
const SLOT_RETRY_MS = 100;
const RESERVED: Reserved = { reserved: true };

/**
 * Stage 7: one of the agent's slots, a token of the tool's rate limit, one call of the session's quota (E3106, E3303,
 * E3211). The quota comes last, so that only a call that really runs is counted: a replay was answered by `reuse`, and a
 * refusal came before (PRM-07).
 */
export function reserve(parts: Parts): Stage<CallRequest & Resolved & Approved, Reserved> {
  const { running, limits, quota } = parts;
  return {
    name: 'reserve',
    takes: 'a slot of the agent, a token of the rate limit, a call of the quota',
    run(call, flight) {
      const { principal, claims, request, confirmed } = call;
      // Nothing is taken for a call that a worker runs later: it takes what it needs then.
      const isLater = request.execution_options?.async_mode === true && flight.resumed === undefined;
      if (isLater) return { waits: { for: 'worker', confirmed } };
      // A session that has nothing left must not eat up what other agents share.
      const spent = quota?.knownSpent(principal, claims);
      if (spent !== undefined) return spent;
      const agent = agentKey(principal);
      // A worker waits until a slot is free, and holds it already.
      const isHeld = flight.resumed?.hold !== undefined;
      if (!isHeld && !running.takeSlot(agent, limits.callsPerAgentMax)) {
        return failure(
          'E3106',
          `The agent runs ${limits.callsPerAgentMax} calls already. Wait until one of them has ended.`,
          { retryAfterMs: SLOT_RETRY_MS },
        );
      }
      if (!isHeld) flight.undo.defer(() => running.freeSlot(agent));
      const rated = takeRate(parts, call);
      if (quota === undefined) return rated;
      const counted = (end: StageEnd<Reserved>): Taken => (isFailure(end) ? end : takeQuota(quota, call));
      return rated instanceof Promise ? rated.then(counted) : counted(rated);
    },
  };
}

type Taken = StageEnd<Reserved> | Promise<StageEnd<Reserved>>;

function takeQuota(quota: NonNullable<Parts['quota']>, { principal, claims }: Resolved): Taken {
  const refused = quota.take(principal, claims);
  return refused instanceof Promise ? refused.then((late) => late ?? RESERVED) : (refused ?? RESERVED);
}

/** A token of the tool's rate limit, and of the agent's own; every attempt takes one (EXT-02). E3303 when none is left. */
export function takeRate(
  { rateLimiter, limits }: Pick<Parts, 'rateLimiter' | 'limits'>,
  { principal, tool: { manifest }, overrides }: Resolved,
): Taken {
  const limit =
    manifest.execution_config?.rate_limit ?? (manifest.executor.kind === 'http' ? limits.externalRate : undefined);
  const own = overrides?.rate_limit;
  if (limit === undefined && own === undefined) return RESERVED;
  const tool = `${principal.tenantId}\n${manifest.tool_id}`;
  if (own === undefined) return take(rateLimiter, tool, limit);
  // An agent's own limit comes on top of the tool's, which all agents of the tenant share.
  const first = take(rateLimiter, `${tool}\n${principal.agentDid}`, own);
  const second = (end: StageEnd<Reserved>): Taken => (isFailure(end) ? end : take(rateLimiter, tool, limit));
  return first instanceof Promise ? first.then(second) : second(first);
}

function take(rateLimiter: Parts['rateLimiter'], bucket: string, limit: RateLimit | undefined): Taken {
  if (limit === undefined) return RESERVED;
  const waitMs = rateLimiter.take(bucket, limit);
  return waitMs instanceof Promise ? waitMs.then((ms) => outcome(ms, limit)) : outcome(waitMs, limit);
}

function outcome(waitMs: number, { per_minute }: RateLimit): StageEnd<Reserved> | Failure {
  if (waitMs === 0) return RESERVED;
  return failure(
    'E3303',
    `The tool may be called ${per_minute} times a minute. Try again in ${Math.ceil(waitMs)} ms.`,
    {
      retryAfterMs: waitMs,
    },
  );
}
