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
  const told = (what: string, tenantId: string): string =>
    `${what} starts a program of this machine, which tenant ${tenantId} may not. Its operator allows it with tenant.may_run_programs.`;
  return {
    refusal({ tenantId, manifest }) {
      if (!PROGRAM_KINDS.has(manifest.executor.kind) || mayRun(tenantId)) return undefined;
      return failure('E3210', told('The tool', tenantId), { details: { tenant_id: tenantId } });
    },
    faults({ executor }, tenantId) {
      if (!PROGRAM_KINDS.has(executor.kind) || mayRun(tenantId)) return [];
      const message = told('the tool', tenantId);
      return [
        { path: '/executor/kind', code: 'E3008', keyword: 'kind', message, hint: 'Register it for another tenant.' },
      ];
    },
    checkUpstream(tenantId, { transport }) {
      if (transport.type !== 'stdio') return;
      if (!mayRun(tenantId)) {
        throw new ToolLayerError('E3210', told('The upstream', tenantId), { details: { tenant_id: tenantId } });
      }
      const outside = outsideAgent({ filesystem: transport.mounts ?? [], network: transport.network ?? [] }, context);
      if (outside !== undefined) throw ToolLayerError.of(outside);
    },
  };
}
