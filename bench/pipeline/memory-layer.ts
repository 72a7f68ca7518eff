import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import { openLedger } from '../../packages/sallyport/src/audit/ledger.ts';
import { createCheckpoints } from '../../packages/sallyport/src/bridges/checkpoints.ts';
import { NOTHING_BRIDGED } from '../../packages/sallyport/src/bridges/documents/documents.fixture.ts';
import { CHECKPOINT_DEFAULTS, noListener } from '../../packages/sallyport/src/bridges/run/runs.fixture.ts';
import { agentContextOf } from '../../packages/sallyport/src/compose/parts/from-settings/agent-bounds.ts';
import { limitsOf } from '../../packages/sallyport/src/compose/parts/from-settings/pipeline-limits.ts';
import { failureRedactorOf, redactorOf } from '../../packages/sallyport/src/compose/parts/from-settings/redactor.ts';
import { valueRulesOf } from '../../packages/sallyport/src/compose/parts/from-settings/value-rules.ts';
import { openIdentity } from '../../packages/sallyport/src/compose/parts/open-identity.ts';
import { readSettings } from '../../packages/sallyport/src/compose/read-settings.ts';
import type { Settings } from '../../packages/sallyport/src/compose/settings.ts';
import { valuesOf } from '../../packages/sallyport/src/domain/settings/setting.ts';
import { createCompositeExecutor } from '../../packages/sallyport/src/executors/composite.ts';
import { createNativeExecutor } from '../../packages/sallyport/src/executors/native/native-executor.ts';
import { createEnvironmentSecretStore } from '../../packages/sallyport/src/external/secret-stores/environment/environment-secret-store.ts';
import { createQuarantine } from '../../packages/sallyport/src/mcp-servers/quarantine.ts';
import { createOverflows, OVERFLOW_SETTINGS } from '../../packages/sallyport/src/model-facing/overflows.ts';
import { OPERATIONS } from '../../packages/sallyport/src/operations/catalogue.ts';
import { invokeTool } from '../../packages/sallyport/src/operations/invocations/invoke-tool.ts';
import { QUOTA_SETTINGS, TRUST_SETTINGS } from '../../packages/sallyport/src/permission/gates/gate-settings.ts';
import { decisionsOf } from '../../packages/sallyport/src/permission/gates/gates.fixture.ts';
import { createCedarPolicyEngine } from '../../packages/sallyport/src/permission/policy-engines/cedar/cedar-policy-engine.ts';
import { createQuota } from '../../packages/sallyport/src/permission/quota.ts';
import { createTrustRules } from '../../packages/sallyport/src/permission/trust.ts';
import { RunningCalls } from '../../packages/sallyport/src/pipeline/ongoing/running-calls.ts';
import type { PipelineParts } from '../../packages/sallyport/src/pipeline/parts.ts';
import { createLateEnds } from '../../packages/sallyport/src/pipeline/record/late-ends.ts';
import { createPipeline, type RunCall } from '../../packages/sallyport/src/pipeline/run.ts';
import { RETRY_SETTINGS, retryRulesOf } from '../../packages/sallyport/src/pipeline/stages/attempts/retry-rules.ts';
import { createOutputMemory } from '../../packages/sallyport/src/pipeline/stages/determinism/output-memory.ts';
import { createIdentifyAgain } from '../../packages/sallyport/src/pipeline/stages/identify.ts';
import { stateUndoer } from '../../packages/sallyport/src/pipeline/undo/state/state-undoer.ts';
import { createVisibleTools } from '../../packages/sallyport/src/pipeline/visible-tools.ts';
import { createRegistry, RETENTION } from '../../packages/sallyport/src/registry/registry.ts';
import { memoryRateLimiter } from '../../packages/sallyport/src/storage/memory/memory-rate-limiter.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';
import {
  createSchemaValidator,
  type SchemaValidator,
} from '../../packages/sallyport/src/validation/schema-validator.ts';
import { createVisibility } from '../../packages/sallyport/src/visibility/visibility.ts';
import { memoryIdempotencyStore } from '../../packages/sallyport/test/stores/calls/memory-idempotency-store.ts';
import { memoryQuotaStore } from '../../packages/sallyport/test/stores/calls/memory-quota-store.ts';
import { memoryApiKeyStore } from '../../packages/sallyport/test/stores/memory-api-key-store.ts';
import { memoryLedgerStore } from '../../packages/sallyport/test/stores/memory-ledger-store.ts';
import { memoryProofIds } from '../../packages/sallyport/test/stores/memory-proof-ids.ts';
import { memoryQuarantineStore } from '../../packages/sallyport/test/stores/memory-quarantine-store.ts';
import { memoryRevocationStore } from '../../packages/sallyport/test/stores/memory-revocation-store.ts';
import { memoryToolStore } from '../../packages/sallyport/test/stores/memory-tool-store.ts';
import { memoryVisibilityStore } from '../../packages/sallyport/test/stores/memory-visibility-store.ts';
import { memoryCheckpointStore } from '../../packages/sallyport/test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../packages/sallyport/test/stores/outcomes/memory-object-store.ts';
import { memoryOutcomeStore } from '../../packages/sallyport/test/stores/outcomes/memory-outcome-store.ts';
import { memoryOutputStore } from '../../packages/sallyport/test/stores/outcomes/memory-output-store.ts';
import { memoryOverflowStore } from '../../packages/sallyport/test/stores/outcomes/memory-overflow-store.ts';
import { memoryStateStore } from '../../packages/sallyport/test/stores/outcomes/memory-state-store.ts';
import { memoryUndoJournal } from '../../packages/sallyport/test/stores/outcomes/memory-undo-journal.ts';
import { benchSettings, checkSum, type MeasuredLayer, request } from './measured-layer.ts';
import { add, PURE_TOOL } from './tool.ts';

/**
 * The same layer over storage in memory: all stages and wrappers, the chain of events too, but no commit to wait for.
 * Its storage grows with each call, so it is for some ten thousand calls and then thrown away.
 */
export async function memoryLayer(
  dataFolder: string,
  onStage?: (stage: string, ms: number) => void,
): Promise<MeasuredLayer> {
  const settings = readSettings({ environment: {}, given: benchSettings(dataFolder) });
  const identity = await openIdentity(
    { settings, clock: systemClock, log: silentLog },
    Promise.resolve({
      revocationStore: memoryRevocationStore(),
      apiKeyStore: memoryApiKeyStore(),
      proofIds: memoryProofIds(),
    }),
  );
  const schemas = createSchemaValidator();
  const parts = await partsOf(settings, identity.identify, schemas);
  const tenantId = settings['tenant.default'];
  await parts.registry.register(tenantId, PURE_TOOL);
  const minted = await identity.operations.mintToken({ tool_id: '*', tenant_id: tenantId });
  const { run: runCall } = createPipeline(onStage === undefined ? parts : { ...parts, onStage });
  const ask = invocation(runCall, schemas, minted.capability_token);
  const close = async (): Promise<void> => {
    await parts.ledger.close();
    await identity[Symbol.asyncDispose]();
  };
  return { call: ask, close };
}

/** The operation as `ask` runs it: its input checked, then the pipeline. */
function invocation(runCall: RunCall, schemas: SchemaValidator, token: string): MeasuredLayer['call'] {
  const shape = schemas.compile({ ...OPERATIONS['tools.invoke'].input });
  if (!('check' in shape)) throw new Error('the schema of the operation does not compile');
  const invoke = invokeTool.run({ runCall });
  const caller = { door: 'library', token } as const;
  const principal = { tenantId: '', agentDid: '', roles: [] };
  return async (toolId, number) => {
    const input = request(toolId, number);
    if (shape.check(input, { coerce: false }).faults.length > 0) throw new Error('the request is malformed');
    const answer = await invoke(input, { caller, principal });
    if (!('status' in answer)) throw new Error('the call was refused');
    checkSum(answer, number);
  };
}

async function partsOf(
  settings: Settings,
  identify: PipelineParts['identify'],
  schemas: SchemaValidator,
): Promise<PipelineParts> {
  const clock = systemClock;
  const log = silentLog;
  const records = memoryLedgerStore();
  const native = createNativeExecutor();
  native.register(PURE_TOOL.tool_id, PURE_TOOL.version, add);
  const executors = createCompositeExecutor([native]);
  const engine = await createCedarPolicyEngine({ folder: join(settings['data_folder'], 'policies') });
  const registry = createRegistry({
    store: memoryToolStore(),
    clock,
    log,
    retention: RETENTION,
    timeoutSecondsMax: settings['calls.timeout_seconds_max'],
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: (manifest) => executors.configFaults(manifest),
  });
  const visibility = createVisibility({ store: memoryVisibilityStore(), clock, log });
  const quarantine = createQuarantine({ store: memoryQuarantineStore(), clock, log });
  const ledger = await openLedger({ store: records, chainId: 'bench', log });
  const stateStore = memoryStateStore();
  const checkpoints = memoryCheckpointStore();
  return {
    clock,
    sharedClock: clock,
    log,
    instanceId: 'bench',
    limits: limitsOf(settings),
    agentContext: agentContextOf(settings),
    identify,
    identifyAgain: createIdentifyAgain(() => false, settings['trust.default']),
    registry,
    visible: createVisibleTools({ registry, visibility, quarantine, catalogTenant: settings['tenant.catalog'] }),
    schemas,
    policy: decisionsOf(engine),
    executors,
    secrets: createEnvironmentSecretStore({}, { defaultTenant: 'default', shared: [] }),
    rateLimiter: memoryRateLimiter({ clock }),
    idempotency: memoryIdempotencyStore({ clock }),
    ledger,
    lateEnds: createLateEnds({ ledger, records, log }),
    values: valueRulesOf(settings),
    redactor: failureRedactorOf(settings, redactorOf(settings)),
    trust: createTrustRules(valuesOf(TRUST_SETTINGS, settings)),
    quota: createQuota({ store: memoryQuotaStore(), ...valuesOf(QUOTA_SETTINGS, settings), clock }),
    transactions: { journal: memoryUndoJournal(), checkpoints, undoers: { state: stateUndoer(stateStore, records) } },
    state: { store: stateStore },
    checkpoints: createCheckpoints({
      store: checkpoints,
      archive: checkpoints,
      objects: memoryObjectStore(),
      clock,
      log,
      settings: CHECKPOINT_DEFAULTS,
      listener: noListener,
    }),
    ...NOTHING_BRIDGED,
    overflows: createOverflows({ store: memoryOverflowStore(), clock, log, ...valuesOf(OVERFLOW_SETTINGS, settings) }),
    outputs: createOutputMemory({ store: memoryOutputStore(), clock, log }),
    outcomes: memoryOutcomeStore(records),
    retries: retryRulesOf(valuesOf(RETRY_SETTINGS, settings)),
    records,
    running: new RunningCalls(),
  };
}
