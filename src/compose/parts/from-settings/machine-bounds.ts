import type { Fault } from '../../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { type Failure, failure } from '../../../domain/error/failure.ts';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import { outsideAgent } from '../../../permission/compute-grant.ts';
import type { Settings } from '../../settings.ts';
import { agentContextOf } from './agent-bounds.ts';

/** Kinds of executor that start programs of this machine. */
const PROGRAM_KINDS: ReadonlySet<string> = new Set(['shell', 'skill']);
/** Isolation that a native module has without a process of its own. */
const IN_PROCESS: ReadonlySet<string> = new Set(['none', 'interpreter']);

/** Whether a tool starts a program: a module does when it asks for more than the interpreter. */
function startsProgram({ executor, execution_config }: ToolManifest): boolean {
  if (PROGRAM_KINDS.has(executor.kind)) return true;
  return executor.kind === 'native' && !IN_PROCESS.has(execution_config?.isolation ?? 'none');
}

/** What the operator of the machine lets tenants run, mount and reach. */
export interface MachineBounds {
  /** Why a tool does not run; undefined when it does. */
  refusal(tool: ToolVersion): Failure | undefined;
  /** The same for a manifest that is registered. */
  faults(manifest: ToolManifest, tenantId: string): readonly Fault[];
  /**
   * Checks what an upstream asks for.
   * @throws E3210 for a program of a tenant that may run none; E3105 and E3104 for mounts and addresses beyond `agent.*`
   */
  checkUpstream(tenantId: string, definition: UpstreamDefinition): void;
  /**
   * Checks what a stdio upstream sees of its program, its code and its folder.
   * @throws E3105 for paths beyond `agent.mounts`
   */
  checkShown(paths: readonly string[]): void;
}

/** The bounds that the settings set. */
export function machineBounds(settings: Settings): MachineBounds {
  const allowed = new Set([
    settings['tenant.default'],
    settings['tenant.catalog'],
    ...settings['tenant.may_run_programs'],
  ]);
  const mayRun = (tenantId: string): boolean => allowed.has('*') || allowed.has(tenantId);
  const context = agentContextOf(settings);
  const allow = (wanted: Parameters<typeof outsideAgent>[0]): void => {
    const outside = outsideAgent(wanted, context);
    if (outside !== undefined) throw ToolLayerError.of(outside);
  };
  const told = (what: string, tenantId: string): string =>
    `${what} starts a program of this machine, which tenant ${tenantId} may not. Its operator allows it with tenant.may_run_programs.`;
  return {
    refusal({ tenantId, manifest }) {
      if (!startsProgram(manifest) || mayRun(tenantId)) return undefined;
      return failure('E3210', told('The tool', tenantId), { details: { tenant_id: tenantId } });
    },
    faults(manifest, tenantId) {
      if (!startsProgram(manifest) || mayRun(tenantId)) return [];
      const message = told('the tool', tenantId);
      return [
        { path: '/executor/kind', code: 'E3008', keyword: 'kind', message, hint: 'Register it for another tenant.' },
      ];
    },
    checkUpstream(tenantId, { transport }) {
      if (transport.type !== 'stdio') {
        const { hostname, port, protocol } = new URL(transport.url);
        const host = hostname.replace(/^\[|\]$/g, '');
        allow({ filesystem: [], network: [{ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) }] });
        return;
      }
      if (!mayRun(tenantId)) {
        throw new ToolLayerError('E3210', told('The upstream', tenantId), { details: { tenant_id: tenantId } });
      }
      allow({ filesystem: transport.mounts ?? [], network: transport.network ?? [] });
    },
    checkShown: (paths) => allow({ filesystem: paths.map((path) => ({ path, mode: 'ro' })), network: [] }),
  };
}
