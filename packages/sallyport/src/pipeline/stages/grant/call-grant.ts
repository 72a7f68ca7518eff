// The grant of a token for a tool is computed once and cached.
import { getServers } from 'node:dns';
import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { AgentSandboxContext } from '../../../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Grant } from '../../../domain/invocation/grant.ts';
import { computeGrant, type LayerLimits, realPathOf } from '../../../permission/compute-grant.ts';
import type { CallRequest, Resolved } from '../../call.ts';

/** Limits of every agent of this layer. */
export interface LayerBounds {
  readonly layer: LayerLimits;
  readonly agentContext: AgentSandboxContext;
  /** Longest timeout of a call that a worker runs (PIPE-12). */
  readonly laterTimeoutMsMax: number;
}

/** Computes grants, and caches those of calls that bring no bounds of their own. */
export type CallGrant = (call: CallRequest & Resolved) => Grant | Failure;

/**
 * Combines the layer's bounds with those of the call: the layer's hold for every call; a context in the request can
 * only narrow them (BC-1).
 */
export function callGrant(bounds: LayerBounds): CallGrant {
  const now = grantWithin(bounds);
  const later = grantWithin(withTimeout(bounds, bounds.laterTimeoutMsMax));
  return (call) => (call.request.execution_options?.async_mode === true ? later(call) : now(call));
}

type FixedBounds = Pick<LayerBounds, 'layer' | 'agentContext'>;

/** The bounds with another longest timeout, for every agent. */
function withTimeout({ layer, agentContext }: FixedBounds, timeoutMs: number): FixedBounds {
  const { timeout_seconds: _shorter, ...resource_limits } = agentContext.resource_limits ?? {};
  return {
    layer: { ...layer, maxima: { ...layer.maxima, timeoutMs } },
    agentContext: { ...agentContext, resource_limits },
  };
}

function grantWithin({ layer, agentContext }: FixedBounds): CallGrant {
  const fixed = { layer, agentContext, realPath: realPathOf, dnsServers: getServers() };
  const known = new WeakMap<CapabilityClaims, WeakMap<ToolManifest, Grant>>();
  const remembered = (claims: CapabilityClaims, manifest: ToolManifest): Grant | Failure => {
    const earlier = known.get(claims)?.get(manifest);
    if (earlier !== undefined) return earlier;
    const grant = computeGrant({ ...fixed, manifest, claims });
    // Not cached: a symbolic link may lead elsewhere at the next call. A path without links is checked when it is used.
    if (isFailure(grant) || grant.links !== undefined) return grant;
    if (!known.has(claims)) known.set(claims, new WeakMap());
    known.get(claims)?.set(manifest, grant);
    return grant;
  };
  return ({ request, claims, tool: { manifest } }) => {
    const { agent_sandbox_context: own, resource_limits: requestLimits } = request;
    // The common case first: a request that brings no bounds of its own.
    if (own === undefined && requestLimits === undefined) return remembered(claims, manifest);
    return computeGrant({
      ...fixed,
      manifest,
      claims,
      ...(own === undefined ? {} : { requestContext: own }),
      ...(requestLimits === undefined ? {} : { requestLimits }),
    });
  };
}
