import type { RateLimit } from '../../../api/schemas/tool-manifest.ts';
import { type Failure, failure, isFailure } from '../../domain/error/failure.ts';
import type { Approved, Reserved, Resolved } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';

type Parts = Pick<PipelineParts, 'running' | 'rateLimiter' | 'limits'>;

/** Wait that is advised when an agent's slots are taken. */
const SLOT_RETRY_MS = 100;

/** Stage 7: one of the agent's slots, and a token of the tool's rate limit (E3106, E3303). */
export function reserve({ running, rateLimiter, limits }: Parts): Stage<Resolved & Approved, Reserved> {
  return {
    name: 'reserve',
    run({ principal, tool: { manifest }, overrides }, flight) {
      const agent = `${principal.tenantId}\n${principal.agentDid}`;
      if (!running.takeSlot(agent, limits.callsPerAgentMax)) {
        return failure(
          'E3106',
          `The agent runs ${limits.callsPerAgentMax} calls already. Wait until one of them has ended.`,
          {
            retryAfterMs: SLOT_RETRY_MS,
          },
        );
      }
      flight.undo.defer(() => running.freeSlot(agent));
      const limit =
        manifest.execution_config?.rate_limit ?? (manifest.executor.kind === 'http' ? limits.externalRate : undefined);
      const own = overrides?.rate_limit;
      if (limit === undefined && own === undefined) return { reserved: true };
      const tool = `${principal.tenantId}\n${manifest.tool_id}`;
      if (own === undefined) return take(rateLimiter, tool, limit);
      // An agent's own limit comes on top of the tool's, which all agents of the tenant share.
      const first = take(rateLimiter, `${tool}\n${principal.agentDid}`, own);
      const second = (end: StageEnd<Reserved>): Taken => (isFailure(end) ? end : take(rateLimiter, tool, limit));
      return first instanceof Promise ? first.then(second) : second(first);
    },
  };
}

type Taken = StageEnd<Reserved> | Promise<StageEnd<Reserved>>;

function take(rateLimiter: Parts['rateLimiter'], bucket: string, limit: RateLimit | undefined): Taken {
  if (limit === undefined) return { reserved: true };
  const waitMs = rateLimiter.take(bucket, limit);
  return waitMs instanceof Promise ? waitMs.then((ms) => outcome(ms, limit)) : outcome(waitMs, limit);
}

function outcome(waitMs: number, { per_minute }: RateLimit): StageEnd<Reserved> | Failure {
  if (waitMs === 0) return { reserved: true };
  return failure(
    'E3303',
    `The tool may be called ${per_minute} times a minute. Try again in ${Math.ceil(waitMs)} ms.`,
    {
      retryAfterMs: waitMs,
    },
  );
}
