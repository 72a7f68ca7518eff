import type { AgentSandboxContext } from '../../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { allowsPort, hostMatcher } from './host-pattern.ts';
import type { AllowedAddresses } from './narrow-patterns.ts';
import { coversPath, normalPath } from './normal-path.ts';

/** One side's bounds, prepared for checks of normal paths and hosts. */
export interface Bounds {
  readonly allowsPath: (wanted: FilesystemPermission) => boolean;
  readonly allowsAddress: (wanted: NetworkPermission) => boolean;
  /** Hosts and ports as stated; undefined when all are allowed. */
  readonly allowed: AllowedAddresses | undefined;
  /** The first bounds, as short strings for messages. */
  readonly paths: () => readonly string[];
  readonly addresses: () => readonly string[];
  /** Name servers that must be used for names; undefined when not stated. */
  readonly dnsServers?: readonly string[];
}

/** Most allowed paths and addresses listed in a refusal. */
const LISTED_MAX = 10;

const NOTHING = (): boolean => false;
const ANYTHING = (): boolean => true;

const boundsByClaims = new WeakMap<CapabilityClaims, Bounds>();
const boundsByContext = new WeakMap<AgentSandboxContext, Bounds>();

/** Bounds of a token: unmentioned means not allowed. Prepared once per token. */
export function boundsOfToken(claims: CapabilityClaims): Bounds {
  const known = boundsByClaims.get(claims);
  if (known !== undefined) return known;
  const { filesystem_permissions: files, network_permissions: network } = claims;
  const permissions = files?.allowed_paths.map((path) => ({ path, mode: files.mode }));
  const bounds: Bounds = {
    allowsPath: permissions === undefined ? NOTHING : pathCheck(permissions),
    allowsAddress: network === undefined ? NOTHING : addressCheck(network.allowed_hosts, network.allowed_ports),
    allowed: { hosts: network?.allowed_hosts ?? [], ports: network?.allowed_ports ?? [] },
    paths: () => listedPaths(permissions),
    addresses: () => listedAddresses(network?.allowed_hosts, network?.allowed_ports),
  };
  boundsByClaims.set(claims, bounds);
  return bounds;
}

/** Bounds of an agent sandbox context: a missing policy sets no bound. Prepared once per context. */
export function boundsOfContext(context: AgentSandboxContext): Bounds {
  const known = boundsByContext.get(context);
  if (known !== undefined) return known;
  const { filesystem_policy: files, network_policy: network } = context;
  const bounds: Bounds = {
    allowsPath: files === undefined ? ANYTHING : pathCheck(files.mounts),
    allowsAddress: network === undefined ? ANYTHING : addressCheck(network.allowed_hosts, network.allowed_ports),
    allowed: network === undefined ? undefined : { hosts: network.allowed_hosts, ports: network.allowed_ports },
    paths: () => listedPaths(files?.mounts),
    addresses: () => listedAddresses(network?.allowed_hosts, network?.allowed_ports),
    ...(network?.dns_servers === undefined ? {} : { dnsServers: network.dns_servers }),
  };
  boundsByContext.set(context, bounds);
  return bounds;
}

/** True when one of the permissions covers a wanted one: at or above its path, and rw where rw is wanted. */
export function pathCheck(permissions: readonly FilesystemPermission[]): (wanted: FilesystemPermission) => boolean {
  const outer = permissions.flatMap(({ path, mode }) => {
    const normal = normalPath(path);
    return normal === undefined ? [] : [{ path: normal, mode }];
  });
  return (wanted) =>
    outer.some(({ path, mode }) => (mode === 'rw' || wanted.mode === 'ro') && coversPath(path, wanted.path));
}

function addressCheck(hosts: readonly string[], ports: readonly number[]): (wanted: NetworkPermission) => boolean {
  const matches = hostMatcher(hosts);
  return ({ host, port }) => allowsPort(ports, port) && matches(host);
}

const listedPaths = (permissions: readonly FilesystemPermission[] = []): readonly string[] =>
  permissions.slice(0, LISTED_MAX).map(({ path, mode }) => `filesystem:${mode}:${path}`);

function listedAddresses(hosts: readonly string[] = [], ports: readonly number[] = []): readonly string[] {
  const listedPorts = ports.includes(0) ? '*' : ports.slice(0, LISTED_MAX).join(',');
  return hosts.slice(0, LISTED_MAX).map((host) => `network:${host}:${listedPorts}`);
}
