import type { PolicyOverrides } from '../../../../api/schemas/visibility.ts';
import type { Grant } from '../../../domain/invocation/grant.ts';

interface Shortened {
  readonly overrides: PolicyOverrides;
  readonly grant: Grant;
}

/**
 * The last result for each grant, so that an agent's grant for a tool stays one object, which other caches use as key.
 */
const known = new WeakMap<Grant, Shortened>();

/** The grant with the timeout that the agent's activation allows; activations never lengthen it. */
export function overriddenGrant(grant: Grant, overrides: PolicyOverrides | undefined): Grant {
  const seconds = overrides?.timeout_seconds_max;
  const { timeoutMs, timeoutMsMax = timeoutMs } = grant.limits;
  if (overrides === undefined || seconds === undefined || seconds * 1000 >= timeoutMsMax) return grant;
  const earlier = known.get(grant);
  if (earlier?.overrides === overrides) return earlier.grant;
  const { timeoutMsMax: _longer, ...limits } = grant.limits;
  const boundMs = seconds * 1000;
  const times = boundMs > timeoutMs ? { timeoutMs, timeoutMsMax: boundMs } : { timeoutMs: boundMs };
  const shortened = { ...grant, limits: { ...limits, ...times } };
  known.set(grant, { overrides, grant: shortened });
  return shortened;
}
