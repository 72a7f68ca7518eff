import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { Admitted, CallRequest, Resolved } from '../call.ts';
import type { Flight } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';
import type { FoundTool } from '../visible-tools.ts';
import type { Identity } from './identify.ts';

type Needs = CallRequest & Admitted;

type Resolving = StageEnd<Resolved> | Promise<StageEnd<Resolved>>;

/** Who asks, and the version of the tool that is meant. What one may not see does not exist (VIS-01, REG-13). */
export function resolve({
  identify,
  identifyAgain,
  visible,
  registry,
}: Pick<PipelineParts, 'identify' | 'identifyAgain' | 'visible' | 'registry'>): Stage<Needs, Resolved> {
  const take = (
    found: FoundTool | Failure,
    identity: Identity,
    { givenParameters }: Needs,
    { warnings, rehearsal }: Flight,
  ): StageEnd<Resolved> => {
    if (isFailure(found)) return found;
    const { tool, overrides, overridesUser, rule } = found;
    if (!rehearsal) registry.noteUse(tool);
    warnings.push(...found.warnings);
    const preset = rule?.default_arguments;
    return {
      principal: identity.principal,
      claims: identity.claims,
      tool,
      givenParameters: preset === undefined ? givenParameters : { ...preset, ...givenParameters },
      ...(overrides === undefined ? {} : { overrides }),
      ...(overridesUser === undefined ? {} : { overridesUser }),
    };
  };
  const known = (identity: Identity | Failure, call: Needs, flight: Flight): Resolving => {
    if (isFailure(identity)) return identity;
    // On record even when the tool is not found: the refusal belongs to this tenant.
    Object.assign(flight.call, identity);
    const { tool_id, tool_version } = call.request;
    const found = visible.findAnywhere(identity, tool_id, tool_version);
    return found instanceof Promise
      ? found.then((late) => take(late, identity, call, flight))
      : take(found, identity, call, flight);
  };
  const knownAgain = (found: ReturnType<PipelineParts['identifyAgain']>, call: Needs, flight: Flight): Resolving => {
    const { refused, ...identity } = found;
    // The refusal ends the row of the one who asked, so it must be on record as his.
    if (refused !== undefined) Object.assign(flight.call, identity);
    return known(refused ?? identity, call, flight);
  };
  return {
    name: 'resolve',
    run(call, flight) {
      const before = flight.resumed?.waiting.claims ?? call.onBehalfOf;
      if (before !== undefined) return knownAgain(identifyAgain(before), call, flight);
      const identity = identify(call.caller, call.request.capability_token);
      return identity instanceof Promise
        ? identity.then((who) => known(who, call, flight))
        : known(identity, call, flight);
    },
  };
}
