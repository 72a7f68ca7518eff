// Runs for every call; manifests, tokens and contexts are each prepared once.

import { type Failure, failure } from '@sallyport/std/error/failure';
import type { AgentSandboxContext, ResourceLimits } from '../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import { boundsOfContext } from './grant/bounds.ts';
import { effectiveLimits, type LayerLimits } from './grant/effective-limits.ts';
import { normalHost, normalPattern } from './grant/host-pattern.ts';
import { normalPath } from './grant/normal-path.ts';
import { narrowed, outsideBounds } from './grant/outside-bounds.ts';
import { linksAmong, type RealPath, realPathOf } from './grant/real-path.ts';
import { wantedBy } from './grant/wanted.ts';

export { defaultsFor, type LayerLimits } from './grant/effective-limits.ts';
export type { RealPath } from './grant/real-path.ts';
export { realPathOf };

/** Violations beyond this many are not listed. */
const VIOLATIONS_MAX = 50;

/** Inputs of a grant: token, manifest, contexts and limits. */
export interface GrantQuestion {
  readonly manifest: ToolManifest;
  readonly claims: CapabilityClaims;
  /** Bounds of the agent (BC-1). A policy missing in it sets no bound. */
  readonly agentContext: AgentSandboxContext;
  /** Bounds of this one call; they narrow the agent's bounds and never widen them. */
  readonly requestContext?: AgentSandboxContext;
  /** Limits that this call asks for. */
  readonly requestLimits?: ResourceLimits;
  readonly layer: LayerLimits;
  /** Follows links on the way to wanted paths, as `realPathOf` does. */
  readonly realPath: RealPath;
  /** Name servers that the layer uses. A context that names others is refused for tools that reach hosts by name. */
  readonly dnsServers: readonly string[];
}

/**
 * Token ∩ manifest ∩ agent sandbox context (PRM-03, SBX-01). The grant is the manifest's request in normal form; any
 * part of it that the token or a context does not cover refuses the call. Pure but for `realPath`.
 *
 * Paths: a wanted path must be covered both by its name and by its target when links are followed. Addresses: exact
 * hosts likewise; of a pattern (`*`, `*.name`) the grant holds what every side leaves of it. Limits: the request's,
 * else the manifest's, else the layer's default. The request may go below and above the manifest's default, but neither
 * may exceed the agent's or the layer's maximum; a default that nobody asked for is lowered to the agent's.
 * @returns every violation in `details.violations`, each with what was wanted and what is allowed, and the code of the
 *   first: E3203 and E3105 paths, E3204 and E3104 addresses (token before agent), E3205 credentials, E3102 limits;
 *   E3209 when a context is another agent's
 */
export function computeGrant(question: GrantQuestion): Grant | Failure {
  const { manifest, claims, agentContext, requestContext, requestLimits, layer, realPath, dnsServers } = question;
  const contexts = requestContext === undefined ? [agentContext] : [agentContext, requestContext];
  const foreign = foreignContext(claims, contexts);
  if (foreign !== undefined) return foreign;
  const wanted = wantedBy(manifest);
  const { limits, violations: beyondLimits } = effectiveLimits(manifest, contexts, requestLimits, layer);
  const links = linksAmong(wanted.filesystem, realPath);
  const violations = wanted.nothing
    ? beyondLimits
    : [...outsideBounds(wanted, { claims, contexts, links, dnsServers }), ...beyondLimits];
  const [first] = violations;
  if (first !== undefined)
    return failure(first.code, first.message, { details: { violations: violations.slice(0, VIOLATIONS_MAX) } });
  const { filesystem, credentials, patterns } = wanted;
  const network = [...wanted.network, ...patterns.flatMap((pattern) => narrowed(pattern, { claims, contexts }))];
  const plain: Grant = { filesystem, network, credentials, limits };
  // Without violations every link's target is known.
  return links === undefined ? plain : { ...plain, links: links as ReadonlyMap<string, string> };
}

/**
 * The first permission that an agent sandbox context does not allow, for programs that run without a capability token;
 * undefined when it allows all.
 * @returns E3105 for a path, E3104 for an address
 */
export function outsideAgent(
  { filesystem, network }: Pick<Grant, 'filesystem' | 'network'>,
  context: AgentSandboxContext,
): Failure | undefined {
  const { allowsPath, allowsAddress } = boundsOfContext(context);
  for (const { path, mode } of filesystem) {
    const normal = normalPath(path);
    if (normal !== undefined && allowsPath({ path: normal, mode })) continue;
    return failure(
      'E3105',
      `The mount ${path} (${mode}) is none that the operator of this machine allows: add "${path}:${mode}" to agent.mounts.`,
      {
        details: { path },
      },
    );
  }
  for (const { host, port } of network) {
    // What lies below a pattern lies below each that covers it.
    const normal = normalPattern(host) ?? normalHost(host);
    if (normal !== undefined && allowsAddress({ host: normal, port })) continue;
    return failure(
      'E3104',
      `The host ${host} is none that the operator of this machine allows: add it to agent.allowed_hosts.`,
      {
        details: { host, port },
      },
    );
  }
  return undefined;
}

function foreignContext(claims: CapabilityClaims, contexts: readonly AgentSandboxContext[]): Failure | undefined {
  for (const context of contexts) {
    const differs = (['agent_did', 'tenant_id'] as const).find(
      (member) => context[member] !== undefined && context[member] !== claims[member],
    );
    if (differs !== undefined)
      return failure('E3209', `The agent sandbox context names another ${differs} than the capability token.`);
  }
  return undefined;
}
