import { join } from 'node:path';
import { startCheckpointTimer } from '../audit/checkpoint-timer.ts';
import { type Ledger, openLedger } from '../audit/ledger.ts';
import { startRelay } from '../audit/relay.ts';
import { openJsonlEventSink } from '../audit/sinks/jsonl/jsonl-event-sink.ts';
import { createCompositeExecutor } from '../executors/composite.ts';
import { createHttpExecutor } from '../executors/http/http-executor.ts';
import { createMcpExecutor } from '../executors/mcp/mcp-executor.ts';
import type { NativeExecutor } from '../executors/native/native-executor.ts';
import { createShellExecutor } from '../executors/shell/shell-executor.ts';
import { createSkillExecutor } from '../executors/skill/skill-executor.ts';
import { createEnvironmentSecretStore } from '../external/secret-stores/environment/environment-secret-store.ts';
import { createQuarantine } from '../mcp-servers/quarantine.ts';
import { createUpstreams } from '../mcp-servers/upstreams.ts';
import type { OperationParts } from '../operations/parts.ts';
import { pathMarkFaults } from '../permission/check-path-arguments.ts';
import { createPolicyDecisions } from '../permission/policy-decisions.ts';
import {
  type CedarPolicyEngine,
  createCedarPolicyEngine,
} from '../permission/policy-engines/cedar/cedar-policy-engine.ts';
import { RunningCalls } from '../pipeline/flight/running-calls.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import { recoverOpenCalls } from '../pipeline/record/recover.ts';
import { createPipeline } from '../pipeline/run.ts';
import { createVisibleTools } from '../pipeline/visible-tools.ts';
import { importLangChain } from '../registry/importers/langchain/langchain-importer.ts';
import { importMcpTools } from '../registry/importers/mcp/mcp-importer.ts';
import { importOpenApi } from '../registry/importers/openapi/openapi-importer.ts';
import { importSkills } from '../registry/importers/skill/skill-importer.ts';
import { createRegistry } from '../registry/registry.ts';
import { createBubblewrapDriver } from '../sandbox/drivers/bubblewrap/bubblewrap-driver.ts';
import type { Clock } from '../std/clock.ts';
import { memoryRateLimiter } from '../storage/memory/memory-rate-limiter.ts';
import type { SocketConnection } from '../storage/postgres/postgres-connection.ts';
import type { Log } from '../telemetry/log.ts';
import { createSchemaValidator } from '../validation/schema-validator.ts';
import { createVisibility } from '../visibility/visibility.ts';
import { agentContextOf, layerLimitsOf } from './agent-bounds.ts';
import { createHealth } from './health.ts';
import { loadInstanceId } from './instance-id.ts';
import { openIdentity } from './open-identity.ts';
import { openSearch } from './open-search.ts';
import { openStorage, type Storage } from './open-storage.ts';
import type { Settings } from './settings.ts';
import type { DatabaseServer } from './start-database.ts';
import { VERSION } from './version.ts';

/** What the layer is made from. */
export interface Ingredients {
  readonly settings: Settings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly native: NativeExecutor;
  /** Closed with what was assembled. */
  readonly server: Promise<DatabaseServer>;
  readonly onStage?: (stage: string, ms: number) => void;
}

/** How often changes that other instances made to the registry are read, in ms. */
const FOLLOW_MS = 2_000;

/** Everything in its place, running. */
export interface AssembledLayer {
  readonly parts: OperationParts;
  readonly embeddedDatabase?: SocketConnection;
  close(): Promise<void>;
}

/** Builds the layer from its adapters: the one place that names them. What was opened is closed when something fails. */
export async function assemble(from: Ingredients): Promise<AssembledLayer> {
  await using opened = new AsyncDisposableStack();
  const { settings, clock, log } = from;
  const opening = openStorage(from.server, settings, log).then((ready) =>
    opened.adopt(ready, (storage) => storage.close()),
  );
  const beside = Promise.all([
    openIdentity(settings, clock),
    openPolicies(settings, log),
    loadInstanceId(settings['data_folder']),
  ]);
  // The database is waited for even when something beside it failed: nothing could close it afterwards.
  await Promise.allSettled([opening, beside]);
  const storage = await opening;
  const [identity, policies, instanceId] = await beside;
  const ledger = await openAudit(opened, from, storage, identity.signer, instanceId);
  const { schemas, secrets, driver, quarantine, upstreams, executors, registry } = openTools(opened, from, storage);
  const visibility = createVisibility({ store: storage.database.visibilityStore, clock, log });
  opened.defer(() => visibility.close());
  const visible = createVisibleTools({ registry, visibility, quarantine, catalogTenant: settings['tenant.catalog'] });
  const running = new RunningCalls();
  opened.defer(() => running.drain(settings['shutdown.grace_seconds'] * 1000));
  const pipeline: PipelineParts = {
    clock,
    log,
    instanceId,
    limits: limitsOf(settings),
    agentContext: agentContextOf(settings),
    identify: identity.identify,
    registry,
    visible,
    schemas,
    policy: createPolicyDecisions({ engine: policies, clock }),
    executors,
    secrets,
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
  // After the tools were read: only what changes from now on is work in the background.
  const toolSearch = await openSearch({ settings, clock, log, database: storage.database, secrets, registry });
  opened.defer(() => toolSearch.close());
  const health = createHealth({ clock, driver, storage });
  opened.defer(health.drain);
  const kept = opened.move();
  return {
    parts: {
      ...pipeline,
      runCall: createPipeline(pipeline),
      toolSearch,
      upstreams,
      quarantine,
      importOpenApi,
      importMcp: importMcpTools,
      importLangChain,
      importSkills,
      signer: identity.signer,
      mintToken: (request) => identity.mint.mint(request),
      visibility,
      catalogTenant: settings['tenant.catalog'],
      defaultTenant: settings['tenant.default'],
      health: health.report,
    },
    ...(storage.embedded === undefined ? {} : { embeddedDatabase: storage.embedded }),
    close: () => kept.disposeAsync(),
  };
}

/** Policies are made ready at once: the database, which starts meanwhile, leaves this process time for it. */
async function openPolicies(settings: Settings, log: Log): Promise<CedarPolicyEngine> {
  const policies = await createCedarPolicyEngine({ folder: join(settings['data_folder'], 'policies') });
  policies.warm().catch((cause: unknown) => log.error('policies-not-warm', { reason: String(cause) }));
  return policies;
}

/** What finds tools and what runs them. */
function openTools(
  opened: AsyncDisposableStack,
  { settings, environment, clock, log, native }: Ingredients,
  { database }: Storage,
) {
  const schemas = createSchemaValidator();
  const secrets = createEnvironmentSecretStore(environment);
  const driver = createBubblewrapDriver();
  const client = { name: 'sallyport', version: VERSION };
  const quarantine = createQuarantine({ store: database.quarantineStore, clock, log });
  const upstreams = createUpstreams({ driver, store: database.upstreamStore, quarantine, secrets, log, clock, client });
  opened.defer(() => upstreams.close());
  const executors = createCompositeExecutor([
    native,
    createShellExecutor({ driver }),
    opened.use(createHttpExecutor({ clock })),
    createMcpExecutor(upstreams),
    createSkillExecutor(),
  ]);
  const registry = createRegistry({
    store: database.toolStore,
    clock,
    log,
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: (manifest) => [...executors.configFaults(manifest), ...pathMarkFaults(manifest)],
    retention: {
      versionsPerToolMax: settings['registry.max_versions_per_tool'],
      warningDays: settings['registry.deprecation_warning_days'],
      inUseDays: settings['registry.in_use_days'],
    },
  });
  return { schemas, secrets, driver, quarantine, upstreams, executors, registry };
}

/** The ledger, the checkpoints of its chain, and the sinks that read from it; closed in the opposite order. */
async function openAudit(
  opened: AsyncDisposableStack,
  { settings, clock, log }: Ingredients,
  { database }: Storage,
  signer: OperationParts['signer'],
  chainId: string,
): Promise<Ledger> {
  const store = database.ledgerStore;
  const sinks = settings['audit.jsonl'] ? [await openJsonlEventSink(join(settings['data_folder'], 'audit.jsonl'))] : [];
  const relay = startRelay({ store, chainId, sinks, log });
  opened.defer(() => relay.close());
  const ledger = await openLedger({ store, chainId, log, onCommitted: relay.offer });
  const everyMs = settings['audit.checkpoint_seconds'] * 1000;
  const checkpoints = startCheckpointTimer({ ledger, store, signer, chainId, everyMs, clock, log });
  opened.defer(() => checkpoints.close());
  opened.defer(() => ledger.close());
  return ledger;
}

function limitsOf(settings: Settings): PipelineParts['limits'] {
  return {
    callsMax: settings['calls.max'],
    callsPerAgentMax: settings['calls.per_agent_max'],
    argumentDepthMax: settings['calls.argument_depth_max'],
    argumentBytesMax: settings['calls.argument_bytes_max'],
    layer: layerLimitsOf(settings),
    timeoutMsMax: settings['calls.timeout_seconds_max'] * 1000,
    externalRate: { per_minute: settings['rate.external_per_minute'], burst: settings['rate.external_burst'] },
    idempotencyTtlMs: settings['idempotency.ttl_seconds'] * 1000,
  };
}
