import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { agentCompatibility } from '../../domain/tool/agent-compatibility.ts';
import { taskSupportOf } from '../../domain/tool/task-support.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { unknownTool } from '../../registry/registry.ts';
import type { Admitted, CallRequest, Noted, Resolved } from '../call.ts';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../parts.ts';
import { isRefused, type Refused, type Stage } from '../stage.ts';
import type { FoundTool } from '../visible-tools.ts';
import type { Identity } from './identify.ts';

type Needs = CallRequest & Noted & Admitted;

/**
 * Establishes the principal, and the version of the tool that is meant. A tool that the principal may not see is
 * answered like one that does not exist (VIS-01, REG-13); one for other versions of agents is refused (REG-17).
 */
export function resolve({
  identify,
  identifyAgain,
  visible,
  registry,
}: Pick<PipelineParts, 'identify' | 'identifyAgain' | 'visible' | 'registry'>): Stage<Needs, Resolved> {
  const identified = async (call: Needs, ongoing: OngoingCall): Promise<Identity | Failure | Refused<Resolved>> => {
    const before = ongoing.resumed?.waiting.claims ?? call.onBehalfOf;
    if (before === undefined) return identify(call.caller, call.request.capability_token);
    const { refused, ...identity } = identifyAgain(before);
    // The principal comes with the refusal, so that the row is recorded as its own.
    return refused === undefined ? identity : { refused, established: identity };
  };
  return {
    name: 'resolve',
    async run(call, ongoing) {
      const identity = await identified(call, ongoing);
      if (isFailure(identity) || isRefused(identity)) return identity;
      // On record even when the tool is not found, or cannot be looked for: the refusal belongs to this tenant.
      const found = await lookedFor(() => toolFor(visible, identity, call, ongoing));
      if (isFailure(found)) return { refused: found, established: identity };
      const { tool, overrides, overridesUser, rule } = found;
      // A compensating call belongs to the agent of the call that it takes back, which was compared.
      const fits =
        call.onBehalfOf === undefined ? agentCompatibility(tool, call.request.agent_context?.agent_version) : [];
      if (isFailure(fits)) return { refused: fits, established: { ...identity, tool } };
      const wrongWay = wrongWayOf(tool, call, ongoing);
      if (wrongWay !== undefined) return { refused: wrongWay, established: { ...identity, tool } };
      if (!ongoing.rehearsal) registry.noteUse(tool);
      const { givenParameters } = call;
      const warnings = [...found.warnings.filter(({ code }) => isAsked(code, ongoing)), ...fits];
      const preset = rule?.default_arguments;
      return {
        principal: identity.principal,
        claims: identity.claims,
        tool,
        ...(warnings.length === 0 ? {} : { warnings: [...call.warnings, ...warnings] }),
        givenParameters: preset === undefined ? givenParameters : { ...preset, ...givenParameters },
        ...(overrides === undefined ? {} : { overrides }),
        ...(overridesUser === undefined ? {} : { overridesUser }),
      };
    },
  };
}

/**
 * The tool that is meant. A call that waited is for the tool that it was accepted for: a name may mean another one since,
 * in a view that was changed, or where a tenant has its own tool now in place of the catalogue's. An approval is bound to
 * the definition by itself.
 */
async function toolFor(
  visible: PipelineParts['visible'],
  identity: Identity,
  { request: { tool_id, tool_version }, compensates }: Needs,
  { resumed }: OngoingCall,
): Promise<FoundTool | Failure> {
  const accepted = resumed?.waiting.tool;
  if (accepted === undefined && compensates === undefined) return visible.findAnywhere(identity, tool_id, tool_version);
  const found = await visible.findById(identity, accepted?.toolId ?? tool_id, tool_version);
  if (accepted === undefined) return found;
  // Its caller may know it by the name of a view alone.
  if (isFailure(found)) return found.code === 'E3001' ? unknownTool(tool_id) : found;
  if (resumed?.approval !== undefined) return found;
  return found.tool.contentHash === accepted.contentHash ? found : otherTool(tool_id);
}

const otherTool = (name: string): Failure =>
  failure('E3006', `The definition of ${name} that this call was accepted for is not there any more. Call again.`);

/** The version of a call that waited is the layer's choice: its caller may have asked for none. */
const isAsked = (code: string, { resumed }: OngoingCall): boolean =>
  resumed === undefined || code !== 'newer_version_excluded';

/** The refusal of a call that is asynchronous where its tool's calls may not be, or is not where they must be. */
function wrongWayOf({ manifest }: ToolVersion, call: Needs, { resumed }: OngoingCall): Failure | undefined {
  const support = taskSupportOf(manifest);
  if (support === undefined || support === 'optional' || resumed !== undefined || call.onBehalfOf !== undefined)
    return undefined;
  const isLater = call.request.execution_options?.async_mode === true;
  if (isLater === (support === 'required')) return undefined;
  // Other doors know no tasks: there the layer waits for the server's.
  if (manifest.execution_config?.task_support === undefined && call.caller.door !== 'mcp') return undefined;
  const message = isLater
    ? `${manifest.tool_id} runs only while its caller waits. Call it without async_mode, and not as a task.`
    : `${manifest.tool_id} runs only as an asynchronous call. Call it with execution_options.async_mode, or as a task.`;
  return failure('E3822', message, { details: { task_support: support } });
}

/** A fault of the registry is a refusal like others. */
async function lookedFor<Found>(look: () => Found | Promise<Found>): Promise<Found | Failure> {
  try {
    return await look();
  } catch (thrown) {
    return failureOf(thrown);
  }
}
