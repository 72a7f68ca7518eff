import type { DryRunResponse } from '../../api/schemas/calls/dry-run.ts';
import type { Health } from '../../api/schemas/health.ts';
import type { CheckpointSigner } from '../audit/checkpoint.ts';
import type { OutsideKnowledge } from '../audit/verify-ledger.ts';
import type { ContextBridge } from '../bridges/context.ts';
import type { Threads } from '../bridges/threads.ts';
import type { OutboundHttp } from '../external/outbound-http.ts';
import type { SecretStore } from '../external/secret-store.port.ts';
import type { UpstreamOffers } from '../mcp-servers/known-upstream.ts';
import type { Quarantine } from '../mcp-servers/quarantine.ts';
import type { UpstreamLogins } from '../mcp-servers/upstream-logins.ts';
import type { Upstreams } from '../mcp-servers/upstreams.ts';
import type { Approvals } from '../orchestration/approvals.ts';
import type { CallIntake } from '../orchestration/call-intake.ts';
import type { SideEffects } from '../orchestration/side-effects.ts';
import type { Workers } from '../orchestration/workers.ts';
import type { PolicyAdministration } from '../permission/policy-administration.ts';
import type { CallRequest } from '../pipeline/call.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import type { RunCall } from '../pipeline/run.ts';
import type {
  ComposioImporter,
  ComposioLister,
  LangChainImporter,
  McpImporter,
  OpenApiImporter,
  SkillImporter,
} from '../registry/importer.port.ts';
import type { SkillFiles } from '../registry/skill-files.port.ts';
import type { ToolSearch } from '../registry/tool-search.ts';
import type { Visibility } from '../visibility/visibility.ts';
import type { IdentityOperationParts } from './identity/identity-parts.ts';
import type { RefusedAsks } from './identity/refused-asks.ts';

/** Dependencies of the operations. */
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
      | 'outcomes'
      | 'circuits'
      | 'checkpoints'
      | 'retries'
      | 'gate'
      | 'outputFilters'
      | 'overflows'
    > {
  /** States of graphs of agents. */
  readonly threads: Threads;
  readonly runCall: RunCall;
  /** Says how a call would end; rejects with E32xx when the caller is not known (PIPE-15). */
  readonly rehearseCall: (request: CallRequest) => Promise<DryRunResponse>;
  /** Approvals of waiting calls. */
  readonly approvals: Approvals;
  /**
   * Run calls that are accepted now and run later; absent when the operator runs no workers, and then asynchronous
   * calls are refused.
   */
  readonly callWorkers?: Workers;
  /** Absent together with the workers. */
  readonly callIntake?: CallIntake;
  /** Side effects of calls, and their compensation. */
  readonly sideEffects: SideEffects;
  readonly toolSearch: ToolSearch;
  /** Contexts of sessions. */
  readonly context: Pick<ContextBridge, 'sessionContext'>;
  readonly upstreams: Upstreams;
  /** What the embedding program offers beside its functions. */
  readonly programOffers: Pick<UpstreamOffers, 'offers' | 'onOffersChanged'> & {
    watchResource(uri: string, onUpdated: () => void): Disposable;
  };
  /** Access tokens of the layer and its callers at upstreams. */
  readonly logins: UpstreamLogins;
  /** Upstream tools, and whether an operator accepted them. */
  readonly quarantine: Quarantine;
  readonly importOpenApi: OpenApiImporter;
  readonly importMcp: McpImporter;
  readonly importLangChain: LangChainImporter;
  readonly importSkills: SkillImporter;
  readonly listComposio: ComposioLister;
  readonly importComposio: ComposioImporter;
  /** Secrets for requests that an operation itself makes to other services. */
  readonly secrets: SecretStore;
  /** True when values of secrets are kept, encrypted; else the definitions of upstreams refer to the secret store. */
  readonly keepsSecrets: boolean;
  readonly outbound: OutboundHttp;
  /** Keeps the files of imported skills. */
  readonly skillFiles: SkillFiles;
  readonly signer: CheckpointSigner;
  /** Knowledge of the instance's chain from outside the tables. */
  readonly outside: OutsideKnowledge;
  /** Rules on the visibility of tools. */
  readonly visibility: Visibility;
  /** The policies: in force, in shadow, on trial. */
  readonly policies: PolicyAdministration;
  /** Tenant whose tools are offered to every tenant; any change in it needs the role admin. */
  readonly catalogTenant: string;
  /** Tenant of local callers that name none. */
  readonly defaultTenant: string;
  readonly health: () => Promise<Health>;
  /** Audits askers that lacked a role. */
  readonly refusedAsks: RefusedAsks;
}
