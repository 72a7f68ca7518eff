import type { TokenMintRequest, TokenMintResponse } from '../../api/schemas/capability-token.ts';
import type { Health } from '../../api/schemas/health.ts';
import type { CheckpointSigner } from '../audit/checkpoint.ts';
import type { Quarantine } from '../mcp-servers/quarantine.ts';
import type { Upstreams } from '../mcp-servers/upstreams.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import type { RunCall } from '../pipeline/run.ts';
import type { LangChainImporter, McpImporter, OpenApiImporter, SkillImporter } from '../registry/importer.port.ts';
import type { ToolSearch } from '../registry/tool-search.ts';
import type { Visibility } from '../visibility/visibility.ts';

/** What the operations stand on. */
export interface OperationParts
  extends Pick<
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
  readonly toolSearch: ToolSearch;
  readonly upstreams: Upstreams;
  /** Which tools of upstreams are what an operator accepted. */
  readonly quarantine: Quarantine;
  readonly importOpenApi: OpenApiImporter;
  readonly importMcp: McpImporter;
  readonly importLangChain: LangChainImporter;
  readonly importSkills: SkillImporter;
  readonly signer: CheckpointSigner;
  /** Signs a token; `issuer` and defaults are the layer's. */
  readonly mintToken: (request: TokenMintRequest & { readonly tenant_id: string }) => Promise<TokenMintResponse>;
  /** Rules on who sees what. */
  readonly visibility: Visibility;
  /** Tenant whose tools are on offer to every tenant; to change anything in it takes the role admin. */
  readonly catalogTenant: string;
  /** Tenant of local callers that name none. */
  readonly defaultTenant: string;
  readonly health: () => Promise<Health>;
}
