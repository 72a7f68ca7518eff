// For local tools without a limit it costs two comparisons.

import { type Failure, failure } from '@sallyport/std/error/failure';
import type { RateLimit } from '../../../../api/schemas/tool-manifest.ts';
import { ownerNames } from '../../../domain/invocation/call-owner.ts';
import type { Resolved } from '../../call.ts';
import type { PipelineParts } from '../../parts.ts';
import { calledApiOf } from './called-api.ts';

type Parts = Pick<PipelineParts, 'rateLimiter' | 'limits'>;

/** One bucket that a token is taken from, and the name of what it limits. */
interface Bucket {
  readonly key: string;
  readonly limit: RateLimit;
  readonly what: string;
}

/**
 * Takes a token of the agent's own limit, of the tool's, and of the called service's; every attempt takes one of each
 * (EXT-02, EXE-06). E3303 when one of them has none left.
 */
export async function takeRate({ rateLimiter, limits }: Parts, call: Resolved): Promise<Failure | undefined> {
  for (const bucket of bucketsOf(limits, call)) {
    const waitMs = await rateLimiter.take(bucket.key, bucket.limit);
    if (waitMs > 0) return spent(bucket, waitMs);
  }
  return undefined;
}

const NONE: readonly Bucket[] = [];

function bucketsOf(limits: Parts['limits'], call: Resolved): readonly Bucket[] {
  const { principal, overrides, overridesUser } = call;
  const { manifest } = call.tool;
  const own = overrides?.rate_limit;
  const api = calledApiOf(manifest);
  const isOutside = api?.isHost === true;
  const limit = manifest.execution_config?.rate_limit ?? (isOutside ? limits.externalRate : undefined);
  if (own === undefined && limit === undefined && api === undefined) return NONE;
  const { tenantId, agentDid } = principal;
  const ofTool = `${tenantId}\n${manifest.tool_id}`;
  const buckets: Bucket[] = [];
  // The limit of an activation adds to the tool's, which all agents of the tenant share.
  const activated = ownerNames({ agentDid, userDid: overridesUser }).join('\n');
  if (own !== undefined) buckets.push({ key: `${ofTool}\n${activated}`, limit: own, what: 'The tool' });
  if (limit !== undefined) buckets.push({ key: ofTool, limit, what: 'The tool' });
  const shared =
    api === undefined ? undefined : (limits.apiRates.get(api.name) ?? (isOutside ? limits.apiRate : undefined));
  if (api !== undefined && shared !== undefined)
    buckets.push({ key: `${tenantId}\n\n${api.name}`, limit: shared, what: `The service ${api.name}` });
  return buckets;
}

function spent({ what, limit }: Bucket, waitMs: number): Failure {
  const message = `${what} may be called ${limit.per_minute} times a minute. Try again in ${Math.ceil(waitMs)} ms.`;
  return failure('E3303', message, { retryAfterMs: waitMs });
}
