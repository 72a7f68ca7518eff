// For local tools without a limit it costs two comparisons.

import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { RateLimit } from '../../../../api/schemas/tool-manifest.ts';
import { ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { Rate } from '../../../domain/rate/rate.ts';
import type { Resolved } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { calledApiOf } from './called-api.ts';

type Parts = Pick<PipelineParts, 'rateLimiter' | 'limits'>;

/** One limit that a call is counted against, and the name of what it limits. */
interface Counted {
  readonly key: string;
  readonly limit: RateLimit;
  readonly what: string;
}

/** Burst of a limit that names none; the default of the manifest's schema. */
const BURST = 10;

/**
 * Counts an attempt against the agent's own limit, the tool's, and the called service's (EXT-02, EXE-06).
 * @returns E3303 when one of them is spent; E3812 when the counts cannot be reached
 */
export function takeRate(parts: Parts, call: Resolved): Promise<Failure | undefined> {
  return takeAll(parts, limitsOn(parts.limits, call));
}

/**
 * Counts a request of the layer's own against the limit of a service, `mcp:` and the name of an upstream, together with
 * the attempts of the tenant's calls.
 * @returns E3303 when it is spent; E3812 when the counts cannot be reached
 */
export async function takeServiceRate(parts: Parts, tenantId: string, service: string): Promise<Failure | undefined> {
  const limit = parts.limits.apiRates.get(service);
  return limit === undefined ? undefined : takeAll(parts, [ofService(tenantId, service, limit)]);
}

/** A call that one limit refuses counts against none: what it took of those before is given back. */
async function takeAll({ rateLimiter, limits }: Parts, all: readonly Counted[]): Promise<Failure | undefined> {
  const rateOf = ({ limit }: Counted): Rate => {
    const { per_minute, burst = BURST, algorithm = limits.rateAlgorithm } = limit;
    return { algorithm, per_minute, burst };
  };
  for (const counted of all.slice(1)) {
    const waitMs = rateLimiter.knownWaitMs(counted.key, rateOf(counted));
    if (waitMs > 0) return spent(counted, waitMs);
  }
  const taken: Counted[] = [];
  const refused = async (failed: Failure): Promise<Failure> => {
    for (const each of taken) await rateLimiter.giveBack(each.key, rateOf(each));
    return failed;
  };
  try {
    for (const counted of all) {
      const waitMs = await rateLimiter.take(counted.key, rateOf(counted));
      if (waitMs > 0) return await refused(spent(counted, waitMs));
      taken.push(counted);
    }
  } catch (thrown) {
    return failureOf(thrown);
  }
  return undefined;
}

const ofService = (tenantId: string, name: string, limit: RateLimit): Counted => ({
  key: `${tenantId}\n\n${name}`,
  limit,
  what: `The service ${name}`,
});

const NONE: readonly Counted[] = [];

function limitsOn(limits: Parts['limits'], call: Resolved): readonly Counted[] {
  const { principal, overrides, overridesUser } = call;
  const { manifest } = call.tool;
  const own = overrides?.rate_limit;
  const api = calledApiOf(manifest);
  const isOutside = api?.isHost === true;
  const limit = manifest.execution_config?.rate_limit ?? (isOutside ? limits.externalRate : undefined);
  if (own === undefined && limit === undefined && api === undefined) return NONE;
  const { tenantId, agentDid } = principal;
  const ofTool = `${tenantId}\n${manifest.tool_id}`;
  const counted: Counted[] = [];
  // The limit of an activation adds to the tool's, which all agents of the tenant share.
  const activated = ownerNames({ agentDid, userDid: overridesUser }).join('\n');
  if (own !== undefined) counted.push({ key: `${ofTool}\n${activated}`, limit: own, what: 'The tool' });
  if (limit !== undefined) counted.push({ key: ofTool, limit, what: 'The tool' });
  const shared =
    api === undefined ? undefined : (limits.apiRates.get(api.name) ?? (isOutside ? limits.apiRate : undefined));
  if (api !== undefined && shared !== undefined) counted.push(ofService(tenantId, api.name, shared));
  return counted;
}

function spent({ what, limit }: Counted, waitMs: number): Failure {
  const message = `${what} may be called ${limit.per_minute} times a minute. Try again in ${Math.ceil(waitMs)} ms.`;
  return failure('E3303', message, { retryAfterMs: waitMs });
}
