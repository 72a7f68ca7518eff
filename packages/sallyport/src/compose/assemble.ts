import type { ObjectStore } from '../bridges/object-store.port.ts';
import { createRetention } from '../bridges/retention.ts';
import { RETENTION_TIME_SETTINGS, THREAD_SETTINGS, TOOL_CHECKPOINT_SETTINGS } from '../bridges/settings.ts';
import { createThreads, type Threads } from '../bridges/threads.ts';
import { valuesOf } from '../domain/settings/setting.ts';
import type { ResourceUpdates } from '../doors/mcp-gateway/resource-updates.port.ts';
import type { UpstreamLogs } from '../doors/mcp-gateway/upstream-logs.port.ts';
import { CREDENTIAL_SETTINGS } from '../external/credentials.ts';
import { OVERFLOW_SETTINGS } from '../model-facing/overflows.ts';
import { createRefusedAsks } from '../operations/identity/refused-asks.ts';
import type { OperationParts } from '../operations/parts.ts';
import { followUnrecorded } from '../operations/tools/record-unrecorded.ts';
import { watchResource } from '../operations/upstreams/offers/watch-resource.ts';
import type { ClientConfirmations } from '../orchestration/approvals/client-confirmations.ts';
import { createSideEffects, type SideEffects } from '../orchestration/side-effects.ts';
import { createCredentialEndings } from '../orchestration/upkeep/credential-endings.ts';
import { createUpkeep, type Upkeep } from '../orchestration/upkeep/upkeep.ts';
import type { CallQuestions } from '../orchestration/workers/running/call-questions.ts';
import { createRehearsal } from '../pipeline/dry-run/rehearse.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import { recoverOpenCalls } from '../pipeline/record/recover.ts';
import { continueRollbacks } from '../pipeline/undo/continue-rollbacks.ts';
import { retryRollbacks } from '../pipeline/undo/retry-rollbacks.ts';
import { createDependencyGates, DEPENDENCY_GATE_SETTINGS } from '../pipeline/visible/dependency-gates.ts';
import { createVisibleTools } from '../pipeline/visible-tools.ts';
import { CONTEXT_SERVER_SETTINGS } from '../reference-servers/context-settings.ts';
import { importComposioTools } from '../registry/importers/composio/composio-importer.ts';
import { listComposioTools } from '../registry/importers/composio/list-tools.ts';
import { importLangChain } from '../registry/importers/langchain/langchain-importer.ts';
import { importMcpTools } from '../registry/importers/mcp/mcp-importer.ts';
import { importOpenApi } from '../registry/importers/openapi/openapi-importer.ts';
import { importSkills } from '../registry/importers/skill/skill-importer.ts';
import { toolsOfTenants } from '../registry/registry.ts';
import type { SocketConnection } from '../storage/postgres/postgres-connection.ts';
import { createVisibility } from '../visibility/visibility.ts';
import { createHealth } from './health/health.ts';
import { warnOfSandboxes } from './health/warn-of-sandboxes.ts';
import { openSearch } from './open-search.ts';
import { credentialsOf } from './parts/from-settings/credentials.ts';
import { keptResultsOf } from './parts/from-settings/kept-results.ts';
import { failureRedactorOf } from './parts/from-settings/redactor.ts';
import { type ClientQuestions, createClientQuestions } from './parts/gateway/client-questions.ts';
import { stateKeyOf } from './parts/gateway/state-key.ts';
import { upstreamLogsOf } from './parts/gateway/upstream-logs.ts';
import type { Ingredients } from './parts/ingredients.ts';
import { openNotifiers } from './parts/notices/open-notifiers.ts';
import { openFoundation } from './parts/open-foundation.ts';
import type { IdentityParts } from './parts/open-identity.ts';
import { type Orchestration, openIntake, openOrchestration } from './parts/open-orchestration.ts';
import { openPipeline } from './parts/open-pipeline.ts';
import type { Storage } from './parts/open-storage.ts';
import { openTools } from './parts/open-tools.ts';

/** Ms between polls for what other instances changed: the registry, upstreams, and decisions on tools of upstreams. */
const FOLLOW_MS = 2_000;

/** All parts of the layer, connected and running. */
export interface AssembledLayer {
  readonly parts: OperationParts;
  readonly embeddedDatabase?: SocketConnection;
  /** Confirmations by the user at an MCP client; absent when no call can wait. */
  readonly confirmations: ClientConfirmations | undefined;
  /** Questions of calls that run as MCP tasks; absent when no call can be asynchronous. */
  readonly callQuestions: CallQuestions | undefined;
  /** The signal of a running call's caller. */
  readonly signalOf: (tenantId: string, invocationId: string) => AbortSignal | undefined;
  /** Makes the layer report that it is not ready, until the returned function is called. */
  readonly drain: () => () => void;
  /** Logs the weaknesses of this machine's sandboxes. */
  readonly warnOfSandboxes: () => Promise<void>;
  /** Nonce for proofs of keys; undefined where proofs need none. */
  readonly proofNonce: () => string | undefined;
  /** Key that signs the state that MCP clients carry. */
  readonly stateKey: () => Uint8Array;
  /** Changes of the resources of upstreams. */
  readonly resourceUpdates: ResourceUpdates;
  /** Log messages of upstreams that belong to no call. */
  readonly upstreamLogs: UpstreamLogs;
  /** Lets a gateway offer to put questions of tools to its clients. */
  readonly clientQuestions: Pick<ClientQuestions, 'answeredBy'>;
  close(): Promise<void>;
}

const IMPORTERS = {
  importOpenApi,
  importMcp: importMcpTools,
  importLangChain,
  importSkills,
  listComposio: listComposioTools,
  importComposio: importComposioTools,
};

/**
 * Builds the layer from its adapters: the one place that names them. Everything that was opened is closed when
 * something fails.
 */
export async function assemble(from: Ingredients): Promise<AssembledLayer> {
  await using opened = new AsyncDisposableStack();
  const { settings, clock, log } = from;
  const foundation = await openFoundation(opened, from);
  const { storage, identity, policies, ledger } = foundation;
  const clientQuestions = createClientQuestions();
  const tools = await openTools(opened, from, foundation, clientQuestions);
  const { secrets, driver, quarantine, upstreams, registry, embedder } = tools;
  const { visibility, visible, ...gates } = openVisibility(opened, from, storage, tools);
  const intake = openIntake(settings);
  const stages = await openPipeline(opened, { from, foundation, tools, visible, gates, intake });
  const orchestration = await openOrchestration(opened, {
    from,
    ...{ ...foundation, intake, upstreams },
    notifiers: openNotifiers(opened, { settings, log, secrets }),
    pipeline: stages,
  });
  const { pipeline, approvals, workers, confirmations, callQuestions } = orchestration;
  // The accepted tools are loaded before any upstream is contacted.
  const upstreamsReady = quarantine.load().then(() => upstreams.start());
  const toolsReady = Promise.all([registry.load(), visibility.start(), upstreamsReady]);
  await Promise.all([toolsReady, recover(opened, pipeline, toolsReady)]);
  const reported = pipeline.checkpoints.reportLeft();
  opened.defer(() => reported);
  await orchestration.start();
  const sideEffects = sideEffectsOf(settings, foundation, orchestration);
  await sideEffects.settleOpen();
  opened.use(await openUpkeep(foundation, sideEffects, tools.objects, from)).start();
  opened.use(quarantine.follow(FOLLOW_MS));
  opened.use(registry.follow(FOLLOW_MS));
  opened.use(upstreams.followStore(FOLLOW_MS));
  opened.use(followUnrecorded({ ...storage.database, registry, ledger, clock, log }));
  // Opened after the tools were read, so that only later changes are indexed in the background.
  const toolSearch = await openSearch({ settings, clock, log, database: storage.database, registry, embedder });
  opened.defer(() => toolSearch.close());
  const refusedAsks = opened.adopt(createRefusedAsks({ ledger, clock, log }), (each) => each.close());
  const health = createHealth({ clock, driver, write: storage.database.tryWrite, identity: identity.health });
  opened.defer(() => void health.drain());
  const kept = opened.move();
  const parts: OperationParts = {
    ...tools,
    ...pipeline,
    runCall: orchestration.runCall,
    approvals,
    sideEffects,
    ...(workers === undefined ? {} : { callWorkers: workers }),
    ...(intake === undefined ? {} : { callIntake: intake }),
    ...{ rehearseCall: createRehearsal(pipeline), threads: threadsOf(foundation, tools.objects, from), toolSearch },
    ...{ ...IMPORTERS, programOffers: from.programOffers },
    ...{ signer: identity.signer, outside: foundation.outside },
    ...identity.operations,
    visibility,
    policies: policies.administration,
    catalogTenant: settings['tenant.catalog'],
    defaultTenant: settings['tenant.default'],
    ...{ health: health.report, refusedAsks },
  };
  return {
    parts,
    ...(storage.embedded === undefined ? {} : { embeddedDatabase: storage.embedded }),
    drain: health.drain,
    warnOfSandboxes: () => warnOfSandboxes(tools.drivers, log),
    ...{ confirmations, callQuestions },
    signalOf: (tenantId, invocationId) => pipeline.running.find(tenantId, invocationId)?.call.caller.signal,
    ...secretsOfDoors(identity),
    upstreamLogs: upstreamLogsOf(upstreams, clock, failureRedactorOf(settings, from.redactor)),
    ...{ clientQuestions, resourceUpdates: { watch: (...wish) => watchResource(parts, ...wish) } },
    close: () => kept.disposeAsync(),
  };
}

/** Keys and nonces that doors need, which follow the layer's own key. */
const secretsOfDoors = ({ proofNonce, operations: { keyRing } }: IdentityParts) => ({
  proofNonce,
  stateKey: () => stateKeyOf(keyRing.current()),
});

/** @throws ToolLayerError E3801 when results would be deleted while their idempotency keys are answered with them */
async function openUpkeep(
  { storage, ledger, instanceId }: Awaited<ReturnType<typeof openFoundation>>,
  sideEffects: SideEffects,
  objects: ObjectStore,
  { settings, clock, log }: Ingredients,
): Promise<Upkeep> {
  const credentials = await credentialsOf(settings);
  const { warnMs } = valuesOf(CREDENTIAL_SETTINGS, settings);
  const { database } = storage;
  const { ledgerStore: records, checkpointStore } = database;
  return createUpkeep({
    credentialEndings: createCredentialEndings({ credentials, warnMs, ledger, records, clock, log }),
    records,
    outcomes: database.outcomeStore,
    outputs: database.outputStore,
    overflows: { ...database.overflowStore, keptMs: valuesOf(OVERFLOW_SETTINGS, settings).keptMs },
    documentPins: database.documentPins,
    retention: createRetention({
      ...{ store: checkpointStore, archive: checkpointStore, objects, clock: storage.clock, log },
    }),
    contexts: { ...database.contextStore, keptMs: valuesOf(CONTEXT_SERVER_SETTINGS, settings).keptMs },
    threads: { ...database.threadStore, keptMs: valuesOf(THREAD_SETTINGS, settings).keptMs },
    daily: { lease: database.dailyLease, holder: instanceId, hour: valuesOf(RETENTION_TIME_SETTINGS, settings).hour },
    rates: database.rateLimiter,
    sideEffects,
    clock,
    log,
    ...keptResultsOf(settings),
  });
}

/** States of graphs of agents. */
const threadsOf = (
  { storage: { database, clock } }: Awaited<ReturnType<typeof openFoundation>>,
  objects: ObjectStore,
  { settings }: Ingredients,
): Threads =>
  createThreads({
    ...{ store: database.threadStore, archive: database.checkpointStore, objects, clock },
    stateBytesMax: valuesOf(TOOL_CHECKPOINT_SETTINGS, settings).stateBytesMax,
    settings: valuesOf(THREAD_SETTINGS, settings),
  });

/** Side effects of calls, and their compensation. */
function sideEffectsOf(
  settings: Ingredients['settings'],
  { storage: { database } }: Awaited<ReturnType<typeof openFoundation>>,
  { runCall, pipeline: { registry, ledger, clock, log } }: Orchestration,
): SideEffects {
  const toolOf = toolsOfTenants(registry, settings['tenant.catalog']);
  return createSideEffects({
    records: database.ledgerStore,
    compensations: database.compensationStore,
    outcomes: database.outcomeStore,
    runCall,
    ledger,
    clock,
    log,
    findTool: (tenantId, toolId) => toolOf(tenantId, toolId)?.manifest,
  });
}

/**
 * Takes half-made changes back before anything of their calls may run again; then settles calls that were left open.
 */
async function recover(
  opened: AsyncDisposableStack,
  pipeline: PipelineParts,
  toolsReady: Promise<unknown>,
): Promise<void> {
  const { log, instanceId } = pipeline;
  log.debug('recovering');
  let rolledBack = 0;
  const [open] = await pipeline.transactions.journal.open(instanceId, 1);
  if (open !== undefined) {
    // Compensating calls need the tools.
    await toolsReady;
    ({ rolledBack } = await continueRollbacks(pipeline, instanceId));
  }
  opened.use(retryRollbacks(pipeline, instanceId));
  const settled = await recoverOpenCalls(pipeline, instanceId);
  if (rolledBack + settled > 0) log.warn('calls-recovered', { rolled_back: rolledBack, settled });
}

/** The visibility of tools. */
function openVisibility(
  opened: AsyncDisposableStack,
  { settings, clock, log }: Ingredients,
  { database }: Storage,
  { registry, quarantine }: Pick<Awaited<ReturnType<typeof openTools>>, 'registry' | 'quarantine'>,
) {
  const visibility = createVisibility({ store: database.visibilityStore, clock, log });
  opened.defer(() => visibility.close());
  const catalogTenant = settings['tenant.catalog'];
  const { enabled, always } = valuesOf(DEPENDENCY_GATE_SETTINGS, settings);
  const gating = { store: database.sessionTools, registry, catalogTenant, always, log };
  const gates = enabled ? { gates: createDependencyGates(gating) } : {};
  return {
    visibility,
    visible: createVisibleTools({ registry, visibility, quarantine, catalogTenant, ...gates }),
    ...gates,
  };
}
