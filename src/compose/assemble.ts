import { isFailure } from '../domain/error/failure.ts';
import type { OperationParts } from '../operations/parts.ts';
import { followUnrecorded } from '../operations/tools/record-unrecorded.ts';
import type { ClientConfirmations } from '../orchestration/approvals/client-confirmations.ts';
import { createSideEffects, type SideEffects } from '../orchestration/side-effects.ts';
import { createRehearsal } from '../pipeline/dry-run/rehearse.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import { recoverOpenCalls } from '../pipeline/record/recover.ts';
import { continueRollbacks } from '../pipeline/undo/continue-rollbacks.ts';
import { createVisibleTools } from '../pipeline/visible-tools.ts';
import { importLangChain } from '../registry/importers/langchain/langchain-importer.ts';
import { importMcpTools } from '../registry/importers/mcp/mcp-importer.ts';
import { importOpenApi } from '../registry/importers/openapi/openapi-importer.ts';
import { importSkills } from '../registry/importers/skill/skill-importer.ts';
import type { SocketConnection } from '../storage/postgres/postgres-connection.ts';
import { createVisibility } from '../visibility/visibility.ts';
import { createHealth } from './health.ts';
import { openSearch } from './open-search.ts';
import type { Ingredients } from './parts/ingredients.ts';
import { openFoundation } from './parts/open-foundation.ts';
import { openNotifiers } from './parts/open-notifiers.ts';
import { type Orchestration, openIntake, openOrchestration } from './parts/open-orchestration.ts';
import { openPipeline } from './parts/open-pipeline.ts';
import type { Storage } from './parts/open-storage.ts';
import { openTools } from './parts/open-tools.ts';

/** How often changes that other instances made to the registry are read, in ms. */
const FOLLOW_MS = 2_000;
/** The same for what operators elsewhere decided on tools of upstreams, in ms. */
const QUARANTINE_FOLLOW_MS = 30_000;

/** Everything in its place, running. */
export interface AssembledLayer {
  readonly parts: OperationParts;
  readonly embeddedDatabase?: SocketConnection;
  /** As {@link IdentityParts.operatorKey}. */
  readonly operatorKey: () => string;
  /** Where the user at an MCP client confirms calls; absent where no call can wait. */
  readonly confirmations: ClientConfirmations | undefined;
  /** The signal of the caller of a call that runs. */
  readonly signalOf: (tenantId: string, invocationId: string) => AbortSignal | undefined;
  close(): Promise<void>;
}

const IMPORTERS = { importOpenApi, importMcp: importMcpTools, importLangChain, importSkills };

/** Builds the layer from its adapters: the one place that names them. What was opened is closed when something fails. */
export async function assemble(from: Ingredients): Promise<AssembledLayer> {
  await using opened = new AsyncDisposableStack();
  const { settings, clock, log } = from;
  const foundation = await openFoundation(opened, from);
  const { storage, identity, policies, ledger } = foundation;
  const tools = await openTools(opened, from, storage);
  const { secrets, driver, quarantine, upstreams, registry } = tools;
  const { visibility, visible } = openVisibility(opened, from, storage, tools);
  const intake = openIntake(settings);
  const stages = await openPipeline(opened, { from, foundation, tools, visible, intake });
  const orchestration = await openOrchestration(opened, {
    from,
    ...foundation,
    intake,
    notifiers: openNotifiers(opened, { settings, log, secrets }),
    pipeline: stages,
  });
  const { pipeline, desk, workers } = orchestration;
  // What was accepted is known before any server is spoken to.
  const upstreamsReady = quarantine.load().then(() => upstreams.start());
  await Promise.all([registry.load(), visibility.start(), recover(pipeline), upstreamsReady]);
  await orchestration.start();
  const sideEffects = sideEffectsOf(settings, foundation, orchestration);
  await sideEffects.settleOpen();
  opened.use(quarantine.follow(QUARANTINE_FOLLOW_MS));
  opened.use(registry.follow(FOLLOW_MS));
  opened.use(followUnrecorded({ registry, ledger, clock, log }));
  // After the tools were read: only what changes from now on is work in the background.
  const toolSearch = await openSearch({ settings, clock, log, database: storage.database, secrets, registry });
  opened.defer(() => toolSearch.close());
  const health = createHealth({ clock, driver, storage, identity: identity.health });
  opened.defer(health.drain);
  const kept = opened.move();
  return {
    parts: {
      ...tools,
      ...pipeline,
      runCall: orchestration.runCall,
      approvalDesk: desk,
      sideEffects,
      ...(workers === undefined ? {} : { callWorkers: workers }),
      ...(intake === undefined ? {} : { callIntake: intake }),
      rehearseCall: createRehearsal(pipeline),
      toolSearch,
      ...IMPORTERS,
      signer: identity.signer,
      ...identity.operations,
      visibility,
      policies: policies.administration,
      catalogTenant: settings['tenant.catalog'],
      defaultTenant: settings['tenant.default'],
      health: health.report,
    },
    ...(storage.embedded === undefined ? {} : { embeddedDatabase: storage.embedded }),
    operatorKey: identity.operatorKey,
    confirmations: orchestration.confirmations,
    signalOf: (tenantId, invocationId) => pipeline.running.find(tenantId, invocationId)?.call.caller.signal,
    close: () => kept.disposeAsync(),
  };
}

/** What calls left behind, and how it is taken back. */
function sideEffectsOf(
  settings: Ingredients['settings'],
  { storage: { database } }: Awaited<ReturnType<typeof openFoundation>>,
  { runCall, pipeline: { registry, ledger, clock, log } }: Orchestration,
): SideEffects {
  return createSideEffects({
    records: database.ledgerStore,
    compensations: database.compensationStore,
    runCall,
    ledger,
    clock,
    log,
    findTool(tenantId, toolId) {
      for (const owner of [tenantId, settings['tenant.catalog']]) {
        const found = registry.find(owner, toolId);
        if (!isFailure(found)) return found.tool.manifest;
      }
      return undefined;
    },
  });
}

/** What was left half changed is taken back before anything of it may run again; then what was left open is settled. */
async function recover(pipeline: PipelineParts): Promise<void> {
  const { transactions, outcomes, records, ledger, clock, log, instanceId } = pipeline;
  if (transactions !== undefined && outcomes !== undefined)
    await continueRollbacks({ transactions, records, ledger, clock, log, outcomes }, instanceId);
  await recoverOpenCalls(pipeline, instanceId);
}

/** Who may see which of the tools. */
function openVisibility(
  opened: AsyncDisposableStack,
  { settings, clock, log }: Ingredients,
  { database }: Storage,
  { registry, quarantine }: Pick<Awaited<ReturnType<typeof openTools>>, 'registry' | 'quarantine'>,
) {
  const visibility = createVisibility({ store: database.visibilityStore, clock, log });
  opened.defer(() => visibility.close());
  const visible = createVisibleTools({ registry, visibility, quarantine, catalogTenant: settings['tenant.catalog'] });
  return { visibility, visible };
}
