import { createCheckpoints } from '../../bridges/checkpoints.ts';
import { DOCUMENT_SETTINGS } from '../../bridges/documents/settings.ts';
import { createDocuments } from '../../bridges/documents.ts';
import { TOOL_CHECKPOINT_SETTINGS } from '../../bridges/settings.ts';
import { STOP_SETTINGS } from '../../domain/settings/server-settings.ts';
import { valuesOf } from '../../domain/settings/setting.ts';
import { EXECUTION_SETTINGS, UPSTREAM_TOOL_TIMES } from '../../domain/tool/execution-settings.ts';
import type { OutboundHttp } from '../../external/outbound-http.ts';
import { directDocuments, upstreamDocuments } from '../../mcp-servers/connection/documents/upstream-documents.ts';
import type { Upstreams } from '../../mcp-servers/upstreams.ts';
import type { CallIntake } from '../../orchestration/call-intake.ts';
import { WORKER_SETTINGS } from '../../orchestration/workers.ts';
import { RunningCalls } from '../../pipeline/ongoing/running-calls.ts';
import { SlotShare } from '../../pipeline/ongoing/slots/slot-share.ts';
import type { PipelineParts } from '../../pipeline/parts.ts';
import { createLateEnds } from '../../pipeline/record/late-ends.ts';
import { createCircuits } from '../../pipeline/stages/attempts/circuits/circuits.ts';
import { countedRequest } from '../../pipeline/stages/attempts/circuits/counted-request.ts';
import { RETRY_SETTINGS, retryRulesOf } from '../../pipeline/stages/attempts/retry-rules.ts';
import { createOutputMemory } from '../../pipeline/stages/determinism/output-memory.ts';
import { stateUndoer } from '../../pipeline/undo/state/state-undoer.ts';
import { memoryCircuitStore } from '../../storage/memory/memory-circuit-store.ts';
import { memoryDocumentCache } from '../../storage/memory/memory-document-cache.ts';
import { agentContextOf } from './from-settings/agent-bounds.ts';
import { circuitTermsFrom } from './from-settings/circuit-terms.ts';
import { limitsOf } from './from-settings/pipeline-limits.ts';
import { failureRedactorOf } from './from-settings/redactor.ts';
import { valueRulesOf } from './from-settings/value-rules.ts';
import type { Ingredients } from './ingredients.ts';
import type { openFoundation } from './open-foundation.ts';
import { openShortening } from './open-shortening.ts';
import { rateLimiterOf, slotStoreOf } from './open-storage.ts';
import type { openTools } from './open-tools.ts';
import { openTrust } from './trust/open-trust.ts';

/** Dependencies of the stages of a call. */
export interface PipelineIngredients {
  readonly from: Ingredients;
  readonly foundation: Awaited<ReturnType<typeof openFoundation>>;
  readonly tools: Awaited<ReturnType<typeof openTools>>;
  readonly visible: PipelineParts['visible'];
  readonly gates: Pick<PipelineParts, 'gates'>;
  readonly intake: CallIntake | undefined;
}

/** All parts of the pipeline but the approvals, which are created around it. */
export async function openPipeline(
  opened: AsyncDisposableStack,
  { from, foundation, tools, visible, gates, intake }: PipelineIngredients,
): Promise<PipelineParts> {
  const { settings, clock, log } = from;
  const { identity, policies, instanceId, ledger } = foundation;
  const { database } = foundation.storage;
  const share = slotShareOf(foundation, from);
  // Its slots are given back after the last call has ended.
  if (share !== undefined) await opened.use(share).start();
  const running = new RunningCalls(share);
  identity.onRevocations(() => running.stopRevoked(identity.wasRevoked));
  // Closed after the last call has ended.
  const lateEnds = opened.use(createLateEnds({ ledger, records: database.ledgerStore, log }));
  opened.defer(() => running.drain(valuesOf(STOP_SETTINGS, settings).graceMs));
  const limits = limitsOf(settings);
  const rateLimiter = rateLimiterOf(foundation.storage, settings, clock);
  const passing = { limits, rateLimiter, ...circuitsOf(from, ledger, tools.outbound) };
  return {
    clock,
    sharedClock: foundation.storage.clock,
    log,
    instanceId,
    ...passing,
    values: valueRulesOf(settings),
    redactor: failureRedactorOf(settings, from.redactor),
    ...(await openShortening(from, database.overflowStore)),
    agentContext: agentContextOf(settings),
    identify: identity.identify,
    identifyAgain: identity.identifyAgain,
    ...tools,
    ...(await openTrust({ ...from, secrets: tools.secrets, quotaStore: database.quotaStore })),
    visible,
    ...gates,
    policy: policies.decisions,
    idempotency: database.idempotencyStore,
    ledger,
    lateEnds,
    records: database.ledgerStore,
    running,
    transactions: {
      journal: database.undoJournal,
      checkpoints: database.checkpointStore,
      undoers: { file: tools.fileExecutor, state: stateUndoer(database.stateStore, database.ledgerStore) },
    },
    state: { store: database.stateStore },
    checkpoints: createCheckpoints({
      store: database.checkpointStore,
      archive: database.checkpointStore,
      objects: tools.objects,
      clock: foundation.storage.clock,
      log,
      settings: valuesOf(TOOL_CHECKPOINT_SETTINGS, settings),
      listener: tools.context.listener,
    }),
    documents: documentsOf(opened, from, foundation, tools, passing),
    outcomes: database.outcomeStore,
    outputs: createOutputMemory({ store: database.outputStore, clock, log }),
    retries: retryRulesOf(valuesOf(RETRY_SETTINGS, settings)),
    ...(intake === undefined ? {} : { workers: intake }),
    ...(from.onStage === undefined ? {} : { onStage: from.onStage }),
  };
}

/** Documents for tools, from the upstream that the settings name. */
function documentsOf(
  opened: AsyncDisposableStack,
  { settings, clock, log }: Ingredients,
  { storage: { database } }: PipelineIngredients['foundation'],
  { upstreams, embedded, documentUpdates: updates }: PipelineIngredients['tools'],
  passing: Parameters<typeof countedRequest>[0],
): PipelineParts['documents'] {
  const values = valuesOf(DOCUMENT_SETTINGS, settings);
  const { timeoutMs: toolMs } = valuesOf(UPSTREAM_TOOL_TIMES, settings);
  const of = {
    name: values.upstream,
    catalogTenant: settings['tenant.catalog'],
    toolMs,
    through: countedRequest(passing),
  };
  const bridge = opened.use(
    createDocuments({
      server: upstreamDocuments(upstreams, of),
      direct: directDocuments(upstreams, embedded, of),
      cache: memoryDocumentCache({ bytesMax: values.cacheBytesMax }),
      ...(updates === undefined ? {} : { updates }),
      ...{ clock, log, settings: values },
    }),
  );
  const serverAt = documentServers(upstreams, values.upstream);
  return { bridge, pins: database.documentPins, serverAt, isPinning: values.isPinning };
}

/**
 * Where an upstream keeps documents: in this process, or elsewhere; undefined when it is no document server.
 * @param named the upstream that the settings name as the one with documents
 */
export const documentServers =
  (upstreams: Pick<Upstreams, 'definition'>, named: string): PipelineParts['documents']['serverAt'] =>
  (tenantId, name) => {
    const transport = upstreams.definition(tenantId, name)?.transport;
    if (transport?.type === 'embedded' && transport.server === 'documents') return 'here';
    return name === named ? 'elsewhere' : undefined;
  };

/** The slots of agents across instances; undefined when this instance counts by itself. */
function slotShareOf(
  { storage, instanceId }: PipelineIngredients['foundation'],
  { settings, clock, log }: Ingredients,
): SlotShare | undefined {
  const store = slotStoreOf(storage, settings);
  const { leaseMs } = valuesOf(WORKER_SETTINGS, settings);
  return store === undefined ? undefined : new SlotShare({ store, instanceId, leaseMs, clock, log });
}

/** @throws ToolLayerError E3403 for invalid settings of circuits */
function circuitsOf(
  { settings, clock, log }: Ingredients,
  ledger: PipelineParts['ledger'],
  outbound: OutboundHttp,
): Pick<PipelineParts, 'circuits'> {
  const terms = circuitTermsFrom(settings);
  if (!settings['circuits.enabled']) return {};
  const circuits = createCircuits({
    store: memoryCircuitStore({ clock }),
    terms,
    unknownState: settings['circuits.unknown_state'],
    timeoutMs: valuesOf(EXECUTION_SETTINGS, settings).timeoutMs,
    upstreamTimeoutMs: valuesOf(UPSTREAM_TOOL_TIMES, settings).timeoutMs,
    outbound,
    ledger,
    clock,
    log,
  });
  return { circuits };
}
