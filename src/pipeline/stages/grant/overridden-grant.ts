// Hot path: asked for every call.
import type { PolicyOverrides } from '../../../../api/schemas/visibility.ts';
import type { Grant } from '../../../domain/invocation/grant.ts';

interface Shortened {
  readonly overrides: PolicyOverrides;
  readonly grant: Grant;
}

/** The last answer for each grant, so that one agent's grant for a tool stays one object for those who remember by it. */
const known = new WeakMap<Grant, Shortened>();

/** The grant with the timeout that the agent's activation allows; activations never lengthen it. */
export function overriddenGrant(grant: Grant, overrides: PolicyOverrides | undefined): Grant {
  const seconds = overrides?.timeout_seconds_max;
  if (overrides === undefined || seconds === undefined || seconds * 1000 >= grant.limits.timeoutMs) return grant;
  const earlier = known.get(grant);
  if (earlier?.overrides === overrides) return earlier.grant;
  const shortened = { ...grant, limits: { ...grant.limits, timeoutMs: seconds * 1000 } };
  known.set(grant, { overrides, grant: shortened });
  return shortened;
}
