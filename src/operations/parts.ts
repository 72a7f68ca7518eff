import type { DryRunResponse } from '../../api/schemas/dry-run.ts';
import type { Health } from '../../api/schemas/health.ts';
import type { CheckpointSigner } from '../audit/checkpoint.ts';
import type { Quarantine } from '../mcp-servers/quarantine.ts';
import type { Upstreams } from '../mcp-servers/upstreams.ts';
import type { PolicyAdministration } from '../permission/policy-administration.ts';
import type { CallRequest } from '../pipeline/call.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import type { RunCall } from '../pipeline/run.ts';
import type { LangChainImporter, McpImporter, OpenApiImporter, SkillImporter } from '../registry/importer.port.ts';
import type { ToolSearch } from '../registry/tool-search.ts';
import type { Visibility } from '../visibility/visibility.ts';
import type { IdentityOperationParts } from './identity/identity-parts.ts';

/** What the operations stand on. */
export interface OperationParts
  extends IdentityOperationParts,
    Pick<
      PipelineParts,
      | 'clock'
      | 'log'
      | 'limits'
      | 'identify'
      | 'registry'
      | 'visible'
      | 'schemas'
      | 'ledger'
      | 'records'
      | 'running'
      | 'instanceId'
    > {
  readonly runCall: RunCall;
  /** What would become of a call; rejects with E32xx when the caller is not known (PIPE-15). */
  readonly rehearseCall: (request: CallRequest) => Promise<DryRunResponse>;
  readonly toolSearch: ToolSearch;
  readonly upstreams: Upstreams;
  /** Which tools of upstreams are what an operator accepted. */
  readonly quarantine: Quarantine;
  readonly importOpenApi: OpenApiImporter;
  readonly importMcp: McpImporter;
  readonly importLangChain: LangChainImporter;
  readonly importSkills: SkillImporter;
  readonly signer: CheckpointSigner;
  /** Rules on who sees what. */
  readonly visibility: Visibility;
  /** The policies: in force, in shadow, on trial. */
  readonly policies: PolicyAdministration;
  /** Tenant whose tools are on offer to every tenant; to change anything in it takes the role admin. */
  readonly catalogTenant: string;
  /** Tenant of local callers that name none. */
  readonly defaultTenant: string;
  readonly health: () => Promise<Health>;
}
