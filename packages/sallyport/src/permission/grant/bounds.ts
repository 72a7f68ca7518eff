import type { AgentSandboxContext } from '../../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { allowsPort, hostMatcher } from './host-pattern.ts';
import type { AllowedAddresses } from './narrow-patterns.ts';
import { coversPath, normalPath } from './normal-path.ts';

/** What one side allows, prepared for questions about normal paths and hosts. */
export interface Bounds {
  readonly allowsPath: (wanted: FilesystemPermission) => boolean;
  readonly allowsAddress: (wanted: NetworkPermission) => boolean;
  /** Hosts and ports as they are said; undefined when any are allowed. */
  readonly allowed: AllowedAddresses | undefined;
  /** What it allows, as short strings for messages, the first ones. */
  readonly paths: () => readonly string[];
  readonly addresses: () => readonly string[];
  /** Name servers that names are to be asked of; undefined when it does not say. */
  readonly dnsServers?: readonly string[];
}

/** Allowed paths and addresses that a refusal tells. */
const TOLD_MAX = 10;

const NOTHING = (): boolean => false;
const ANYTHING = (): boolean => true;

const boundsByClaims = new WeakMap<CapabilityClaims, Bounds>();
const boundsByContext = new WeakMap<AgentSandboxContext, Bounds>();

/** What a token allows; what it does not mention it does not allow. Prepared once for each token. */
export function boundsOfToken(claims: CapabilityClaims): Bounds {
  const known = boundsByClaims.get(claims);
  if (known !== undefined) return known;
  const { filesystem_permissions: files, network_permissions: network } = claims;
  const permissions = files?.allowed_paths.map((path) => ({ path, mode: files.mode }));
  const bounds: Bounds = {
    allowsPath: permissions === undefined ? NOTHING : pathCheck(permissions),
    allowsAddress: network === undefined ? NOTHING : addressCheck(network.allowed_hosts, network.allowed_ports),
    allowed: { hosts: network?.allowed_hosts ?? [], ports: network?.allowed_ports ?? [] },
    paths: () => toldPaths(permissions ?? []),
    addresses: () => toldAddresses(network?.allowed_hosts ?? [], network?.allowed_ports ?? []),
  };
  boundsByClaims.set(claims, bounds);
  return bounds;
}

/** What an agent sandbox context allows; a policy that it does not hold sets no bound. Prepared once for each context. */
export function boundsOfContext(context: AgentSandboxContext): Bounds {
  const known = boundsByContext.get(context);
  if (known !== undefined) return known;
  const { filesystem_policy: files, network_policy: network } = context;
  const bounds: Bounds = {
    allowsPath: files === undefined ? ANYTHING : pathCheck(files.mounts),
    allowsAddress: network === undefined ? ANYTHING : addressCheck(network.allowed_hosts, network.allowed_ports),
    allowed: network === undefined ? undefined : { hosts: network.allowed_hosts, ports: network.allowed_ports },
    paths: () => toldPaths(files?.mounts ?? []),
    addresses: () => toldAddresses(network?.allowed_hosts ?? [], network?.allowed_ports ?? []),
    ...(network?.dns_servers === undefined ? {} : { dnsServers: network.dns_servers }),
  };
  boundsByContext.set(context, bounds);
  return bounds;
}

/** Whether one of the permissions covers a wanted one: at or above its path, and rw where rw is wanted. */
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

const toldPaths = (permissions: readonly FilesystemPermission[]): readonly string[] =>
  permissions.slice(0, TOLD_MAX).map(({ path, mode }) => `filesystem:${mode}:${path}`);

function toldAddresses(hosts: readonly string[], ports: readonly number[]): readonly string[] {
  const told = ports.includes(0) ? '*' : ports.slice(0, TOLD_MAX).join(',');
  return hosts.slice(0, TOLD_MAX).map((host) => `network:${host}:${told}`);
}
