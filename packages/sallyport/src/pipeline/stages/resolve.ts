import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { Admitted, CallRequest, Resolved } from '../call.ts';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';
import type { Identity } from './identify.ts';

type Needs = CallRequest & Admitted;

/** Who asks, and the version of the tool that is meant. What one may not see does not exist (VIS-01, REG-13). */
export function resolve({
  identify,
  identifyAgain,
  visible,
  registry,
}: Pick<PipelineParts, 'identify' | 'identifyAgain' | 'visible' | 'registry'>): Stage<Needs, Resolved> {
  const identified = async (call: Needs, ongoing: OngoingCall): Promise<Identity | Failure> => {
    const before = ongoing.resumed?.waiting.claims ?? call.onBehalfOf;
    if (before === undefined) return identify(call.caller, call.request.capability_token);
    const { refused, ...identity } = identifyAgain(before);
    // The refusal ends the row of the one who asked, so it must be on record as his.
    if (refused !== undefined) Object.assign(ongoing.call, identity);
    return refused ?? identity;
  };
  return {
    name: 'resolve',
    async run(call, ongoing) {
      const identity = await identified(call, ongoing);
      if (isFailure(identity)) return identity;
      // On record even when the tool is not found: the refusal belongs to this tenant.
      Object.assign(ongoing.call, identity);
      const { tool_id, tool_version } = call.request;
      const found = await visible.findAnywhere(identity, tool_id, tool_version);
      if (isFailure(found)) return found;
      const { tool, overrides, overridesUser, rule } = found;
      if (!ongoing.rehearsal) registry.noteUse(tool);
      ongoing.warnings.push(...found.warnings);
      const { givenParameters } = call;
      const preset = rule?.default_arguments;
      return {
        principal: identity.principal,
        claims: identity.claims,
        tool,
        givenParameters: preset === undefined ? givenParameters : { ...preset, ...givenParameters },
        ...(overrides === undefined ? {} : { overrides }),
        ...(overridesUser === undefined ? {} : { overridesUser }),
      };
    },
  };
}
