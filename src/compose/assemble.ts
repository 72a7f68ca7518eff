import type { OperationParts } from '../operations/parts.ts';
import { followUnrecorded } from '../operations/tools/record-unrecorded.ts';
import { createRehearsal } from '../pipeline/dry-run/rehearse.ts';
import { RunningCalls } from '../pipeline/flight/running-calls.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import { recoverOpenCalls } from '../pipeline/record/recover.ts';
import { createPipeline } from '../pipeline/run.ts';
import { createVisibleTools } from '../pipeline/visible-tools.ts';
import { importLangChain } from '../registry/importers/langchain/langchain-importer.ts';
import { importMcpTools } from '../registry/importers/mcp/mcp-importer.ts';
import { importOpenApi } from '../registry/importers/openapi/openapi-importer.ts';
import { importSkills } from '../registry/importers/skill/skill-importer.ts';
import { memoryRateLimiter } from '../storage/memory/memory-rate-limiter.ts';
import type { SocketConnection } from '../storage/postgres/postgres-connection.ts';
import { createVisibility } from '../visibility/visibility.ts';
import { createHealth } from './health.ts';
import { openSearch } from './open-search.ts';
import { agentContextOf } from './parts/agent-bounds.ts';
import type { Ingredients } from './parts/ingredients.ts';
import { openFoundation } from './parts/open-foundation.ts';
import type { Storage } from './parts/open-storage.ts';
import { openTools } from './parts/open-tools.ts';
import { openTrust } from './parts/open-trust.ts';
import { limitsOf } from './parts/pipeline-limits.ts';
import { valueRulesOf } from './parts/value-rules.ts';

/** How often changes that other instances made to the registry are read, in ms. */
const FOLLOW_MS = 2_000;

/** Everything in its place, running. */
export interface AssembledLayer {
  readonly parts: OperationParts;
  readonly embeddedDatabase?: SocketConnection;
  /** As {@link IdentityParts.operatorKey}. */
  readonly operatorKey: () => string;
  close(): Promise<void>;
}

/** Builds the layer from its adapters: the one place that names them. What was opened is closed when something fails. */
export async function assemble(from: Ingredients): Promise<AssembledLayer> {
  await using opened = new AsyncDisposableStack();
  const { settings, clock, log } = from;
  const { storage, identity, policies, instanceId, ledger } = await openFoundation(opened, from);
  const tools = await openTools(opened, from, storage);
  const { secrets, driver, quarantine, upstreams, registry } = tools;
  const { visibility, visible } = openVisibility(opened, from, storage, tools);
  const running = new RunningCalls();
  opened.defer(() => running.drain(settings['shutdown.grace_seconds'] * 1000));
  const judges = await openTrust({ ...from, secrets, quotaStore: storage.database.quotaStore });
  const pipeline: PipelineParts = {
    clock,
    log,
    instanceId,
    limits: limitsOf(settings),
    values: valueRulesOf(settings),
    agentContext: agentContextOf(settings),
    identify: identity.identify,
    identifyAgain: identity.identifyAgain,
    ...tools,
    ...judges,
    visible,
    policy: policies.decisions,
    rateLimiter: memoryRateLimiter({ clock }),
    idempotency: storage.database.idempotencyStore,
    ledger,
    records: storage.database.ledgerStore,
    running,
    ...(from.onStage === undefined ? {} : { onStage: from.onStage }),
  };
  // What was accepted is known before any server is spoken to.
  const upstreamsReady = quarantine.load().then(() => upstreams.start());
  await Promise.all([registry.load(), visibility.start(), recoverOpenCalls(pipeline, instanceId), upstreamsReady]);
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
      runCall: createPipeline(pipeline),
      rehearseCall: createRehearsal(pipeline),
      toolSearch,
      importOpenApi,
      importMcp: importMcpTools,
      importLangChain,
      importSkills,
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
    close: () => kept.disposeAsync(),
  };
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
