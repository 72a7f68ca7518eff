import { isFailure } from '../../domain/error/failure.ts';
import type { CallRequest, Resolved } from '../call.ts';
import type { Flight } from '../flight/flight.ts';
import type { Identity } from '../identify.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';

/** Stage 2: who asks, and the version of the tool that is meant. What the tenant does not have does not exist. */
export function resolve({
  identify,
  registry,
}: Pick<PipelineParts, 'identify' | 'registry'>): Stage<CallRequest, Resolved> {
  const find = (
    { principal, claims }: Identity,
    { request }: CallRequest,
    { warnings }: Flight,
  ): StageEnd<Resolved> => {
    const found = registry.find(principal.tenantId, request.tool_id, request.tool_version);
    if (isFailure(found)) return found;
    warnings.push(...found.warnings);
    return { principal, claims, tool: found.tool };
  };
  const known = (
    identity: Awaited<ReturnType<typeof identify>>,
    call: CallRequest,
    flight: Flight,
  ): StageEnd<Resolved> => {
    if (isFailure(identity)) return identity;
    // On record even when the tool is not found: the refusal belongs to this tenant.
    Object.assign(flight.call, identity);
    return find(identity, call, flight);
  };
  return {
    name: 'resolve',
    run(call, flight) {
      const identity = identify(call.caller, call.request.capability_token);
      return identity instanceof Promise
        ? identity.then((who) => known(who, call, flight))
        : known(identity, call, flight);
    },
  };
}
