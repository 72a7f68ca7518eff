import { isIP } from 'node:net';
import type { AgentSandboxContext } from '../../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { type Bounds, boundsOfContext, boundsOfToken } from './bounds.ts';
import { normalHost } from './host-pattern.ts';
import { narrowPattern } from './narrow-patterns.ts';
import type { Violation } from './violation.ts';
import type { Wanted } from './wanted.ts';

/** The sides that set bounds. */
export interface Sides {
  readonly claims: CapabilityClaims;
  readonly contexts: readonly AgentSandboxContext[];
  /** Targets of the wanted paths that contain links. */
  readonly links: ReadonlyMap<string, string | undefined> | undefined;
  /** Name servers that the layer uses; absent when unknown. */
  readonly dnsServers: readonly string[];
}

/** One side: the codes of its refusals and its name in messages. */
interface Side {
  readonly bounds: Bounds;
  readonly pathCode: 'E3203' | 'E3105';
  readonly addressCode: 'E3204' | 'E3104';
  readonly name: string;
}

/**
 * Everything wanted that some side does not allow: per permission, first the token's refusals, then the contexts' in
 * order.
 */
export function outsideBounds(wanted: Wanted, { claims, contexts, links, dnsServers }: Sides): Violation[] {
  const sides: readonly Side[] = [
    { bounds: boundsOfToken(claims), pathCode: 'E3203', addressCode: 'E3204', name: 'capability token' },
    ...contexts.map(
      (context): Side => ({
        bounds: boundsOfContext(context),
        pathCode: 'E3105',
        addressCode: 'E3104',
        name: 'agent sandbox context',
      }),
    ),
  ];
  const secrets = claims.credential_permissions?.allowed_secrets ?? [];
  return [
    ...wanted.malformed,
    ...wanted.filesystem.flatMap((permission) => pathViolations(permission, sides, links)),
    ...wanted.network.flatMap((permission) => addressViolations(permission, sides)),
    ...wanted.patterns.flatMap((pattern) => patternViolations(pattern, sides)),
    ...wanted.credentials
      .filter((name) => !secrets.includes(name))
      .map((name) => outside('E3205', `credential:${name}`, 'capability token')),
    ...dnsViolations([...wanted.network, ...wanted.patterns], contexts, dnsServers),
  ];
}

/**
 * Both the name and its target must be allowed. The bounds themselves are compared as text: otherwise a bound that was
 * replaced by a link would allow the link's target.
 */
function pathViolations(permission: FilesystemPermission, sides: readonly Side[], links: Sides['links']): Violation[] {
  const { path, mode } = permission;
  const real = links?.has(path) === true ? links.get(path) : path;
  const found: Violation[] = [];
  for (const { bounds, pathCode, name } of sides) {
    const what = `filesystem:${mode}:${path}`;
    if (!bounds.allowsPath(permission)) found.push(outside(pathCode, what, name, bounds.paths()));
    else if (real === undefined) found.push(linkedNowhere(pathCode, what));
    else if (real !== path && !bounds.allowsPath({ path: real, mode }))
      found.push(linkedOut(pathCode, what, name, bounds.paths()));
  }
  return found;
}

function addressViolations(permission: NetworkPermission, sides: readonly Side[]): Violation[] {
  const what = `network:${permission.host}:${permission.port}`;
  return sides
    .filter(({ bounds }) => !bounds.allowsAddress(permission))
    .map(({ bounds, addressCode, name }) => outside(addressCode, what, name, bounds.addresses()));
}

/** The remainder of a pattern after every side narrowed it; empty when one side leaves nothing. */
export function narrowed(pattern: NetworkPermission, { claims, contexts }: Pick<Sides, 'claims' | 'contexts'>) {
  const allowed = [boundsOfToken(claims), ...contexts.map(boundsOfContext)].map((bounds) => bounds.allowed);
  return allowed.reduce<readonly NetworkPermission[]>((rows, side) => narrowedBy(rows, side), [pattern]);
}

/** An exact host cannot be narrowed: a side allows it or not. */
function narrowedBy(rows: readonly NetworkPermission[], side: Bounds['allowed']): readonly NetworkPermission[] {
  return side === undefined ? rows : distinct(rows.flatMap((row) => narrowPattern(row, side)));
}

function distinct(rows: readonly NetworkPermission[]): readonly NetworkPermission[] {
  return [...new Map(rows.map((row) => [`${row.host}:${row.port}`, row])).values()];
}

/** Reports the first side that leaves nothing of the pattern. */
function patternViolations(pattern: NetworkPermission, sides: readonly Side[]): Violation[] {
  let rows: readonly NetworkPermission[] = [pattern];
  for (const { bounds, addressCode, name } of sides) {
    rows = narrowedBy(rows, bounds.allowed);
    if (rows.length > 0) continue;
    return [outside(addressCode, `network:${pattern.host}:${pattern.port}`, name, bounds.addresses())];
  }
  return [];
}

/**
 * The layer resolves names itself and may use any of its name servers, so a context that names some must name all of
 * these.
 */
function dnsViolations(
  network: readonly NetworkPermission[],
  contexts: readonly AgentSandboxContext[],
  own: readonly string[] | undefined,
): Violation[] {
  const named = network.find(({ host }) => isIP(host) === 0);
  if (named === undefined) return [];
  return contexts.flatMap((context) => {
    const { dnsServers = [] } = boundsOfContext(context);
    if (dnsServers.length === 0) return [];
    const allowed = new Set(dnsServers.map(normalHost));
    if (own !== undefined && own.length > 0 && own.every((server) => allowed.has(normalHost(server)))) return [];
    return [otherDns(named, dnsServers)];
  });
}

/** What to change when an agent's bounds refuse; for a token, a new one must be requested. */
const REMEDY: Partial<Record<Violation['code'], string>> = {
  E3105: 'Add it to agent.mounts in the settings, or to the context that the call brings.',
  E3104: 'Add it to agent.allowed_hosts in the settings, or to the context that the call brings.',
};

function outside(code: Violation['code'], wanted: string, whose: string, allowed?: readonly string[]): Violation {
  return {
    code,
    wanted,
    ...(allowed === undefined ? {} : { allowed }),
    message: `The tool needs ${wanted}, which the ${whose} does not allow. ${REMEDY[code] ?? 'Ask for a token that does.'}`,
  };
}

/** The link's target is not revealed: it lies outside. */
function linkedOut(code: Violation['code'], wanted: string, whose: string, allowed: readonly string[]): Violation {
  return {
    code,
    wanted,
    allowed,
    message: `The tool needs ${wanted}, which leads through a link to a place that the ${whose} does not allow. Name the real path in manifest, token and context.`,
  };
}

const linkedNowhere = (code: Violation['code'], wanted: string): Violation => ({
  code,
  wanted,
  message: `The tool needs ${wanted}, and where that leads is unknown: it is a link to nowhere, or lies where the layer may not look.`,
});

const otherDns = ({ host, port }: NetworkPermission, allowed: readonly string[]): Violation => ({
  code: 'E3104',
  wanted: `network:${host}:${port}`,
  allowed: allowed.slice(0, 10),
  message: `The agent sandbox context wants ${host} to be looked up by name servers of its own, and this layer asks others. Leave dns_servers out, list the layer's own, or let the tool name an IP address.`,
});
