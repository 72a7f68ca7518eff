// Hot path: runs for every call; manifests and tokens are prepared once each.
import type { AgentSandboxContext, ResourceLimits } from '../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { FilesystemPermission, NetworkPermission, ToolManifest } from '../../api/schemas/tool-manifest.ts';
import { type Failure, failure, isFailure } from '../domain/error/failure.ts';
import type { Grant } from '../domain/invocation/grant.ts';
import { type Bounds, boundsOfContext, boundsOfToken } from './grant/bounds.ts';
import { effectiveLimits, type LayerLimits } from './grant/effective-limits.ts';
import { normalHost } from './grant/host-pattern.ts';
import { normalPath } from './grant/normal-path.ts';
import type { Violation } from './grant/violation.ts';

export type { LayerLimits } from './grant/effective-limits.ts';

/** Violations beyond this many are not listed. */
const VIOLATIONS_MAX = 50;

/** The three that meet in a grant, and the limits. */
export interface GrantQuestion {
  readonly manifest: ToolManifest;
  readonly claims: CapabilityClaims;
  /** Bounds of the agent (BC-1). Absent, or a policy absent in it: no bound from this side. */
  readonly agentContext?: AgentSandboxContext;
  /** What this very call asks for. */
  readonly requestLimits?: ResourceLimits;
  readonly layer: LayerLimits;
}

/**
 * Token ∩ manifest ∩ agent sandbox context (PRM-03, SBX-01). The grant is what the manifest asks for, in normal form;
 * whatever of it the token or the agent's context does not cover refuses the call. Purely by names: links are looked at
 * by `checkPathArguments` and by the sandbox.
 *
 * Limits: the request's, else the manifest's, else the layer's default. The request may go below and above the
 * manifest's default, but neither may ask for more than the agent's or the layer's maximum; a default that nobody asked
 * for is lowered to the agent's.
 * @returns every violation in `details.violations`, and the code of the first: E3203 and E3105 paths, E3204 and E3104
 *   addresses (token before agent), E3205 credentials, E3102 limits; E3209 when the context is another agent's
 */
export function computeGrant(question: GrantQuestion): Grant | Failure {
  // The common case first: nothing but token and manifest, which have met before.
  const isPlain = question.agentContext === undefined && question.requestLimits === undefined;
  const known = isPlain ? plainGrants.get(question.claims)?.get(question.manifest) : undefined;
  if (known !== undefined && known.layer === question.layer) return known.grant;
  const grant = newGrant(question);
  if (isPlain && !isFailure(grant)) remember(question, grant);
  return grant;
}

interface PlainGrant {
  readonly layer: LayerLimits;
  readonly grant: Grant;
}
/** The same object for the same token and manifest, so that what is keyed by the grant need not look into it. */
const plainGrants = new WeakMap<CapabilityClaims, WeakMap<ToolManifest, PlainGrant>>();

function remember({ claims, manifest, layer }: GrantQuestion, grant: Grant): void {
  let ofToken = plainGrants.get(claims);
  if (ofToken === undefined) {
    ofToken = new WeakMap();
    plainGrants.set(claims, ofToken);
  }
  ofToken.set(manifest, { layer, grant });
}

function newGrant(question: GrantQuestion): Grant | Failure {
  const { manifest, claims, agentContext, requestLimits, layer } = question;
  const foreign = foreignContext(claims, agentContext);
  if (foreign !== undefined) return foreign;
  const wanted = wantedBy(manifest);
  const { limits, violations: beyondLimits } = effectiveLimits(manifest, agentContext, requestLimits, layer);
  // Most tools touch nothing.
  const violations = wanted.nothing ? beyondLimits : [...violationsOf(wanted, claims, agentContext), ...beyondLimits];
  const [first] = violations;
  if (first !== undefined)
    return failure(first.code, first.message, { details: { violations: violations.slice(0, VIOLATIONS_MAX) } });
  return { filesystem: wanted.filesystem, network: wanted.network, credentials: wanted.credentials, limits };
}

interface Wanted {
  readonly filesystem: readonly FilesystemPermission[];
  readonly network: readonly NetworkPermission[];
  readonly credentials: readonly string[];
  /** Permissions that are no path or host, as they stand in the manifest. */
  readonly malformed: readonly Violation[];
  readonly nothing: boolean;
}

const wantedByManifest = new WeakMap<ToolManifest, Wanted>();
const boundsByClaims = new WeakMap<CapabilityClaims, Bounds>();

function wantedBy(manifest: ToolManifest): Wanted {
  const known = wantedByManifest.get(manifest);
  if (known !== undefined) return known;
  const { filesystem = [], network = [], credentials = [] } = manifest.permissions ?? {};
  const malformed: Violation[] = [];
  const paths = filesystem.flatMap(({ path, mode }): FilesystemPermission[] => {
    const normal = normalPath(path);
    if (normal === undefined) malformed.push(notPossible('E3203', `filesystem:${mode}:${path}`, 'absolute path'));
    return normal === undefined ? [] : [{ path: normal, mode }];
  });
  const addresses = network.flatMap(({ host, port }): NetworkPermission[] => {
    const normal = normalHost(host);
    if (normal === undefined) malformed.push(notPossible('E3204', `network:${host}:${port}`, 'exact host'));
    return normal === undefined ? [] : [{ host: normal, port }];
  });
  const nothing = filesystem.length + network.length + credentials.length === 0;
  const wanted: Wanted = { filesystem: paths, network: addresses, credentials: [...credentials], malformed, nothing };
  wantedByManifest.set(manifest, wanted);
  return wanted;
}

function notPossible(code: 'E3203' | 'E3204', wanted: string, form: string): Violation {
  return {
    code,
    wanted,
    message: `The tool's manifest asks for ${wanted}, which is no ${form}. Correct the manifest.`,
  };
}

function violationsOf(wanted: Wanted, claims: CapabilityClaims, context: AgentSandboxContext | undefined): Violation[] {
  let token = boundsByClaims.get(claims);
  if (token === undefined) {
    token = boundsOfToken(claims);
    boundsByClaims.set(claims, token);
  }
  const agent = context === undefined ? undefined : boundsOfContext(context);
  const violations: Violation[] = [...wanted.malformed];
  for (const permission of wanted.filesystem) {
    const what = `filesystem:${permission.mode}:${permission.path}`;
    if (!token.allowsPath(permission)) violations.push(outside('E3203', what, 'capability token'));
    if (agent?.allowsPath(permission) === false) violations.push(outside('E3105', what, 'agent sandbox context'));
  }
  for (const permission of wanted.network) {
    const what = `network:${permission.host}:${permission.port}`;
    if (!token.allowsAddress(permission)) violations.push(outside('E3204', what, 'capability token'));
    if (agent?.allowsAddress(permission) === false) violations.push(outside('E3104', what, 'agent sandbox context'));
  }
  const secrets = claims.credential_permissions?.allowed_secrets ?? [];
  for (const name of wanted.credentials)
    if (!secrets.includes(name)) violations.push(outside('E3205', `credential:${name}`, 'capability token'));
  return violations;
}

function outside(code: Violation['code'], wanted: string, whose: string): Violation {
  return {
    code,
    wanted,
    message: `The tool needs ${wanted}, which the ${whose} does not allow. Ask for a ${whose} that does.`,
  };
}

function foreignContext(claims: CapabilityClaims, context: AgentSandboxContext | undefined): Failure | undefined {
  const differs = (['agent_did', 'tenant_id'] as const).find(
    (member) => context?.[member] !== undefined && context[member] !== claims[member],
  );
  return differs === undefined
    ? undefined
    : failure('E3209', `The agent sandbox context names another ${differs} than the capability token.`);
}
