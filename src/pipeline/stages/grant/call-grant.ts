// Hot path: the grant of a token for a tool is computed once.
import type { AgentSandboxContext } from '../../../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { type Failure, isFailure } from '../../../domain/error/failure.ts';
import type { Grant } from '../../../domain/invocation/grant.ts';
import { computeGrant, type GrantQuestion, type LayerLimits } from '../../../permission/compute-grant.ts';
import type { CallRequest, Resolved } from '../../call.ts';

/** What bounds every agent of this layer. */
export interface LayerBounds {
  readonly layer: LayerLimits;
  readonly agentContext: AgentSandboxContext;
}

/** Computes grants, and remembers those of calls that ask for nothing of their own. */
export type CallGrant = (call: CallRequest & Resolved) => Grant | Failure;

/** The bounds of the layer hold for every call; a context that the request brings can only narrow them (BC-1). */
export function callGrant({ layer, agentContext }: LayerBounds): CallGrant {
  const known = new WeakMap<CapabilityClaims, WeakMap<ToolManifest, Grant>>();
  const remembered = (claims: CapabilityClaims, manifest: ToolManifest): Grant | Failure => {
    const earlier = known.get(claims)?.get(manifest);
    if (earlier !== undefined) return earlier;
    const grant = computeGrant({ manifest, claims, agentContext, layer });
    if (isFailure(grant)) return grant;
    if (!known.has(claims)) known.set(claims, new WeakMap());
    known.get(claims)?.set(manifest, grant);
    return grant;
  };
  return ({ request, claims, tool: { manifest } }) => {
    const { agent_sandbox_context: own, resource_limits: requestLimits } = request;
    // The common case first: a request that brings no bounds of its own.
    if (own === undefined && requestLimits === undefined) return remembered(claims, manifest);
    const question: GrantQuestion = {
      manifest,
      claims,
      layer,
      ...(requestLimits === undefined ? {} : { requestLimits }),
    };
    const wide = computeGrant({ ...question, agentContext });
    if (own === undefined || isFailure(wide)) return wide;
    const narrow = computeGrant({ ...question, agentContext: own });
    return isFailure(narrow) ? narrow : { ...narrow, limits: lower(wide, narrow) };
  };
}

const lower = ({ limits: a }: Grant, { limits: b }: Grant): Grant['limits'] => ({
  timeoutMs: Math.min(a.timeoutMs, b.timeoutMs),
  cpuMillicores: Math.min(a.cpuMillicores, b.cpuMillicores),
  memoryMb: Math.min(a.memoryMb, b.memoryMb),
  outputBytesMax: Math.min(a.outputBytesMax, b.outputBytesMax),
});
