import type { AgentSandboxContext } from '../../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { allowsPort, hostMatcher } from './host-pattern.ts';
import { coversPath, normalPath } from './normal-path.ts';

/** What one side allows, prepared for questions about normal paths and hosts. */
export interface Bounds {
  readonly allowsPath: (wanted: FilesystemPermission) => boolean;
  readonly allowsAddress: (wanted: NetworkPermission) => boolean;
}

const NOTHING = (): boolean => false;
const ANYTHING = (): boolean => true;

/** What a token allows; what it does not mention it does not allow. */
export function boundsOfToken(claims: CapabilityClaims): Bounds {
  const { filesystem_permissions: files, network_permissions: network } = claims;
  return {
    allowsPath:
      files === undefined ? NOTHING : pathCheck(files.allowed_paths.map((path) => ({ path, mode: files.mode }))),
    allowsAddress: network === undefined ? NOTHING : addressCheck(network.allowed_hosts, network.allowed_ports),
  };
}

/** What an agent sandbox context allows; a policy that it does not hold sets no bound. */
export function boundsOfContext(context: AgentSandboxContext): Bounds {
  const { filesystem_policy: files, network_policy: network } = context;
  return {
    allowsPath: files === undefined ? ANYTHING : pathCheck(files.mounts),
    allowsAddress: network === undefined ? ANYTHING : addressCheck(network.allowed_hosts, network.allowed_ports),
  };
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
