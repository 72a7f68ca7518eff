import type { CapabilityClaims, TokenMintRequest, TokenMintResponse } from '../../api/schemas/capability-token.ts';
import type { Health } from '../../api/schemas/health.ts';
import type { CheckpointSigner } from '../audit/checkpoint.ts';
import type { Upstreams } from '../mcp-servers/upstreams.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import type { RunCall } from '../pipeline/run.ts';
import type { McpImporter, OpenApiImporter } from '../registry/importer.port.ts';

/** What the operations stand on. */
export interface OperationParts
  extends Pick<
    PipelineParts,
    'clock' | 'log' | 'identify' | 'registry' | 'schemas' | 'ledger' | 'records' | 'running' | 'instanceId'
  > {
  readonly runCall: RunCall;
  readonly upstreams: Upstreams;
  readonly importOpenApi: OpenApiImporter;
  readonly importMcp: McpImporter;
  readonly signer: CheckpointSigner;
  /** Signs a token; `issuer` and defaults are the layer's. */
  readonly mintToken: (request: TokenMintRequest & { readonly tenant_id: string }) => Promise<TokenMintResponse>;
  /** Whether a token lets its holder see a tool. */
  readonly seesTool: (claims: CapabilityClaims, toolId: string) => boolean;
  /** Tenant of local callers that name none. */
  readonly defaultTenant: string;
  readonly health: () => Promise<Health>;
}
