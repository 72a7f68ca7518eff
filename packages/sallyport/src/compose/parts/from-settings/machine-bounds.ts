import { isIP } from 'node:net';
import { type Failure, failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Fault } from '../../../../api/schemas/error.ts';
import type { FilesystemPermission, NetworkPermission, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { traitsOf } from '../../../domain/tool/executor-kinds.ts';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import { isPublic } from '../../../external/egress-guard.ts';
import { outsideAgent } from '../../../permission/compute-grant.ts';
import { hostMatcher, normalHost } from '../../../permission/grant/host-pattern.ts';
import type { Settings } from '../../settings.ts';
import { agentContextOf } from './agent-bounds.ts';

/** Isolation levels of a native module that need no process of its own. */
const IN_PROCESS: ReadonlySet<string> = new Set(['none', 'interpreter']);

/** True when a tool starts a program: a module does when it asks for more isolation than the interpreter gives. */
function startsProgram({ executor, execution_config }: ToolManifest): boolean {
  if (traitsOf(executor.kind).startsPrograms) return true;
  return executor.kind === 'native' && !IN_PROCESS.has(execution_config?.isolation ?? 'none');
}

/** What the operator of the machine lets tenants run, mount and reach. */
export interface MachineBounds {
  /** Why a tool may not run: its tenant may run no programs, or not reach its address; undefined when it may. */
  refusal(tool: ToolVersion): Failure | undefined;
  /** The same as faults of a manifest that is being registered. */
  faults(manifest: ToolManifest, tenantId: string): readonly Fault[];
  /**
   * Checks the definition of an upstream.
   * @throws E3210 for a program of a tenant that may run none; E3105 and E3104 for mounts and addresses beyond
   *   `agent.*`
   */
  checkUpstream(tenantId: string, definition: UpstreamDefinition): void;
  /**
   * Checks the paths that a stdio upstream sees: its program, its code and its folder.
   * @throws E3105 for paths beyond `agent.mounts`
   */
  checkShown(paths: readonly string[]): void;
}

/** The limits of the machine, from the settings. */
export function machineBounds(settings: Settings): MachineBounds {
  const allowed = new Set([
    settings['tenant.default'],
    settings['tenant.catalog'],
    ...settings['tenant.may_run_programs'],
  ]);
  const mayRun = (tenantId: string): boolean => allowed.has('*') || allowed.has(tenantId);
  const context = agentContextOf(settings);
  const local = localAddresses(settings['agent.allowed_hosts'], mayRun);
  const allow = (filesystem: readonly FilesystemPermission[], network: readonly NetworkPermission[]): void => {
    const outside = outsideAgent({ filesystem, network }, context);
    if (outside !== undefined) throw ToolLayerError.of(outside);
  };
  const allowFor = (tenantId: string, ...[filesystem, network]: Parameters<typeof allow>): void => {
    const outside = local(tenantId, network);
    if (outside !== undefined) throw ToolLayerError.of(outside);
    allow(filesystem, network);
  };
  const refusalText = (what: string, tenantId: string): string =>
    `${what} starts a program of this machine, which tenant ${tenantId} may not. Its operator allows it with tenant.may_run_programs.`;
  return {
    refusal({ tenantId, manifest }) {
      if (startsProgram(manifest) && !mayRun(tenantId))
        return failure('E3210', refusalText('The tool', tenantId), { details: { tenant_id: tenantId } });
      return manifest.permissions?.network === undefined ? undefined : local(tenantId, manifest.permissions.network);
    },
    faults(manifest, tenantId) {
      if (!startsProgram(manifest) || mayRun(tenantId)) return [];
      const message = refusalText('the tool', tenantId);
      return [
        { path: '/executor/kind', code: 'E3008', keyword: 'kind', message, hint: 'Register it for another tenant.' },
      ];
    },
    checkUpstream(tenantId, { transport }) {
      if (transport.type === 'embedded') return;
      if (transport.type !== 'stdio') {
        const { hostname, port, protocol } = new URL(transport.url);
        const host = hostname.replace(/^\[|\]$/g, '');
        allowFor(tenantId, [], [{ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) }]);
        return;
      }
      if (!mayRun(tenantId)) {
        throw new ToolLayerError('E3210', refusalText('The upstream', tenantId), { details: { tenant_id: tenantId } });
      }
      allowFor(tenantId, transport.mounts ?? [], transport.network ?? []);
    },
    checkShown: (paths) =>
      allow(
        paths.map((path) => ({ path, mode: 'ro' })),
        [],
      ),
  };
}

/**
 * Says why a tenant may not reach the first of these hosts that is on this machine or its network. `*` does not include
 * them: the operator names them, and only for tenants that may run programs.
 */
function localAddresses(hosts: readonly string[], mayRun: (tenantId: string) => boolean) {
  const isNamed = hostMatcher(hosts.filter((host) => host !== '*'));
  return (tenantId: string, network: readonly NetworkPermission[]): Failure | undefined => {
    const isOpen = mayRun(tenantId) ? isNamed : () => false;
    const beyond = network.find(({ host }) => isLocal(host) && !isOpen(normalHost(host) ?? host));
    if (beyond === undefined) return undefined;
    const { host, port } = beyond;
    const why = mayRun(tenantId)
      ? 'The operator of this machine allows it by naming it in agent.allowed_hosts.'
      : `Tenant ${tenantId} may not reach those unless tenant.may_run_programs names it.`;
    return failure('E3104', `${host} is an address of this machine or its network. ${why}`, {
      details: { host, port },
    });
  };
}

/** True when a host is an IP literal that is not public, or a name for the machine itself. */
function isLocal(host: string): boolean {
  const normal = normalHost(host);
  if (normal === undefined) return false;
  return isIP(normal) === 0 ? normal === 'localhost' || normal.endsWith('.localhost') : !isPublic(normal);
}
