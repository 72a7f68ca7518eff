import { generateKeyPairSync } from 'node:crypto';
import { createRedactor } from '@sallyport/guards';
import { systemClock } from '@sallyport/std/clock';
import { isFailure } from '@sallyport/std/error/failure';
import type { TokenMintRequest } from '../../api/schemas/capability-token.ts';
import type { ToolInvokeRequest } from '../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../api/schemas/tool-manifest.ts';
import { memoryIdempotencyStore } from '../../test/stores/calls/memory-idempotency-store.ts';
import { memoryQuotaStore } from '../../test/stores/calls/memory-quota-store.ts';
import { memoryLedgerStore } from '../../test/stores/memory-ledger-store.ts';
import { memoryQuarantineStore } from '../../test/stores/memory-quarantine-store.ts';
import { memoryToolStore } from '../../test/stores/memory-tool-store.ts';
import { memoryVisibilityStore } from '../../test/stores/memory-visibility-store.ts';
import { memoryCheckpointStore } from '../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../test/stores/outcomes/memory-object-store.ts';
import { memoryOutcomeStore } from '../../test/stores/outcomes/memory-outcome-store.ts';
import { memoryOutputStore } from '../../test/stores/outcomes/memory-output-store.ts';
import { memoryOverflowStore } from '../../test/stores/outcomes/memory-overflow-store.ts';
import { memoryStateStore } from '../../test/stores/outcomes/memory-state-store.ts';
import { memoryUndoJournal } from '../../test/stores/outcomes/memory-undo-journal.ts';
import { openLedger } from '../audit/ledger.ts';
import type { LedgerStore } from '../audit/ledger-store.port.ts';
import { createCheckpoints } from '../bridges/checkpoints.ts';
import { NOTHING_BRIDGED } from '../bridges/documents/documents.fixture.ts';
import { CHECKPOINT_DEFAULTS, noListener } from '../bridges/run/runs.fixture.ts';
import type { InvocationRecord } from '../domain/invocation/record.ts';
import type { Caller } from '../domain/principal/principal.ts';
import { defaultsOf } from '../domain/settings/setting.ts';
import { createCompositeExecutor } from '../executors/composite.ts';
import { createNativeExecutor, type NativeFunction } from '../executors/native/native-executor.ts';
import { createTokenMint } from '../identity/mint-token.ts';
import { verifierWith } from '../identity/token/verifier.fixture.ts';
import { createQuarantine } from '../mcp-servers/quarantine.ts';
import { createOverflows } from '../model-facing/overflows.ts';
import { decisionsOf, quotaWith, trustWith } from '../permission/gates/gates.fixture.ts';
import type { PolicyEngine } from '../permission/policy-engine.port.ts';
import { createRegistry, RETENTION } from '../registry/registry.ts';
import { memoryRateLimiter } from '../storage/memory/memory-rate-limiter.ts';
import { silentLog } from '../telemetry/log.ts';
import { createSchemaValidator } from '../validation/schema-validator.ts';
import { createVisibility } from '../visibility/visibility.ts';
import { RunningCalls } from './ongoing/running-calls.ts';
import { CALL_SETTINGS, type PipelineLimits, type PipelineParts } from './parts.ts';
import type { LateEnds } from './record/late-ends.ts';
import { createPipeline } from './run.ts';
import { RETRY_SETTINGS, type RetryRules, retryRulesOf } from './stages/attempts/retry-rules.ts';
import { createOutputMemory } from './stages/determinism/output-memory.ts';
import { createIdentify, createIdentifyAgain } from './stages/identify.ts';
import { VALUE_SETTINGS, type ValueRules } from './stages/values/value-rules.ts';
import { stateUndoer } from './undo/state/state-undoer.ts';
import { createVisibleTools } from './visible-tools.ts';

const limits: PipelineLimits = {
  ...defaultsOf(CALL_SETTINGS),
  callsMax: 100,
  callsPerAgentMax: 4,
  callsWaitingPerAgentMax: 100,
  argumentDepthMax: 16,
  argumentBytesMax: 10_000,
  layer: {
    defaults: { timeoutMs: 2000, cpuMillicores: 500, memoryMb: 64, outputBytesMax: 10_000 },
    maxima: { timeoutMs: 10_000, cpuMillicores: 1000, memoryMb: 256, outputBytesMax: 100_000 },
  },
  timeoutMsMax: 10_000,
  laterTimeoutMsMax: 10_000,
  rateAlgorithm: 'token_bucket',
  externalRate: { per_minute: 60, burst: 2 },
  idempotencyTtlMs: 60_000,
  apiRates: new Map(),
};

const values: ValueRules = {
  ...defaultsOf(VALUE_SETTINGS),
  judgeContent: false,
  scanOutput: async () => ({ tainted: false, findings: [], complete: true }),
};

/** The rules of retries by default. */
export const retries: RetryRules = retryRulesOf(defaultsOf(RETRY_SETTINGS));

/** Gives up at once the end of a call that the ledger did not take. */
const noLateEnds: LateEnds = {
  write: async () => undefined,
  size: 0,
  [Symbol.asyncDispose]: async () => undefined,
};

/** Parts of the pipeline, and rules for values of which any may be left out. */
export interface PipelineChanges extends Partial<Omit<PipelineParts, 'values'>> {
  readonly values?: Partial<ValueRules>;
  readonly store?: LedgerStore;
}

const permitAll: PolicyEngine = {
  name: 'permit-all',
  version: () => '1',
  decide: () => ({ allowed: true, policies: ['permit'] }),
};

const keys = { kid: 'k', ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
const verifier = verifierWith({ keys: [{ kid: 'k', key: keys.publicKey }], issuers: ['test'] });
const mint = createTokenMint({
  ...{ keys: () => keys, issuer: 'test', tenantId: 'acme', agentDid: 'did:agent:a' },
  ...{ revokedBefore: () => 0, clock: systemClock },
});

/** A manifest of a native tool that takes a number `n`. */
export function manifest(toolId: string, more: Partial<ToolManifest> = {}): ToolManifest {
  return {
    tool_id: toolId,
    tool_name: toolId,
    version: '1.0.0',
    description: 'For tests.',
    side_effect_policy: 'pure',
    parameters_schema: {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    },
    executor: { kind: 'native' },
    ...more,
  };
}

/** A whole pipeline over the in-memory adapters, with functions as its tools. */
export async function pipeline(changes: PipelineChanges = {}) {
  const native = createNativeExecutor();
  const executors = createCompositeExecutor([native]);
  const schemas = createSchemaValidator();
  const ownStore = memoryLedgerStore();
  const store = changes.store ?? ownStore;
  const ledger = changes.ledger ?? (await openLedger({ store, chainId: 'one', log: silentLog }));
  const registry = createRegistry({
    store: memoryToolStore(),
    clock: systemClock,
    log: silentLog,
    retention: RETENTION,
    timeoutSecondsMax: 300,
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: (given) => (changes.executors ?? executors).configFaults(given),
  });
  const visibility = createVisibility({ store: memoryVisibilityStore(), clock: systemClock, log: silentLog });
  const quarantine = createQuarantine({ store: memoryQuarantineStore(), clock: systemClock, log: silentLog });
  const given: PipelineParts = {
    clock: systemClock,
    sharedClock: changes.clock ?? systemClock,
    log: silentLog,
    instanceId: 'one',
    limits,
    agentContext: {},
    identify: createIdentify((token) => verifier.verify(token), {
      ...{ defaultTrust: 'trusted', checkPossession: () => undefined },
    }),
    identifyAgain: createIdentifyAgain(() => false, 'trusted'),
    registry,
    visible: createVisibleTools({ registry, visibility, quarantine, catalogTenant: 'catalog' }),
    schemas,
    policy: decisionsOf(permitAll),
    executors,
    secrets: { read: async (_tenant, names) => new Map(names.map((name) => [name, `value of ${name}`])) },
    rateLimiter: memoryRateLimiter(),
    idempotency: memoryIdempotencyStore(),
    ledger,
    records: store,
    running: new RunningCalls(),
    ...rulesAndMemory(store),
    outcomes: memoryOutcomeStore(ownStore),
    ...changes,
    values: { ...values, ...changes.values },
  };
  const { run, parts } = createPipeline(given);
  const token = async (request: TokenMintRequest = {}): Promise<string> => (await mint.mint(request)).capability_token;
  const anyTool = await token();
  return {
    parts,
    visibility,
    store,
    token,
    run,
    async add(given: ToolManifest, body: NativeFunction): Promise<void> {
      const [registered] = await registry.registerAll('acme', [given]);
      if (registered === undefined || isFailure(registered)) throw new Error('it was not registered');
      native.register(given.tool_id, given.version, body);
    },
    /** Calls with a token for every tool unless the request brings its own. */
    call(request: ToolInvokeRequest, caller: Partial<Caller> = {}): Promise<InvocationRecord> {
      return run({ request: { capability_token: anyTool, ...request }, caller: { door: 'library', ...caller } });
    },
    async eventsOf(invocationId: string) {
      return (await everyEvent(store, invocationId)).filter(({ type }) => !type.includes('.side_effect.'));
    },
    everyEventOf: (invocationId: string) => everyEvent(store, invocationId),
  };
}

/** Rules for values that refuse nothing, and stores in memory of what is remembered of calls. */
function rulesAndMemory(records: LedgerStore) {
  const state = memoryStateStore();
  const checkpoints = memoryCheckpointStore();
  return {
    redactor: createRedactor({ kinds: [] }),
    trust: trustWith(),
    quota: quotaWith({ store: memoryQuotaStore() }),
    transactions: { journal: memoryUndoJournal(), checkpoints, undoers: { state: stateUndoer(state, records) } },
    state: { store: state },
    checkpoints: createCheckpoints({
      store: checkpoints,
      archive: checkpoints,
      objects: memoryObjectStore(),
      clock: systemClock,
      log: silentLog,
      settings: CHECKPOINT_DEFAULTS,
      listener: noListener,
    }),
    ...NOTHING_BRIDGED,
    overflows: createOverflows({ store: memoryOverflowStore(), clock: systemClock, log: silentLog, keptMs: 60_000 }),
    outputs: createOutputMemory({ store: memoryOutputStore(), clock: systemClock, log: silentLog }),
    retries,
    lateEnds: noLateEnds,
  };
}

async function everyEvent(store: LedgerStore, invocationId: string) {
  const all = await store.events(undefined, { limit: 1000 });
  return all.map(({ event }) => event).filter(({ subject }) => subject === invocationId);
}
