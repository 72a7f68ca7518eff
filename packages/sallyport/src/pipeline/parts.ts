import type { Redactor } from '@sallyport/guards';
import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import type { AgentSandboxContext } from '../../api/schemas/agent-sandbox-context.ts';
import type { CallPriority } from '../../api/schemas/invocation.ts';
import { RateAlgorithm, type RateLimit } from '../../api/schemas/tool-manifest.ts';
import type { Ledger } from '../audit/ledger.ts';
import type { LedgerStore } from '../audit/ledger-store.port.ts';
import type { Checkpoints } from '../bridges/checkpoints.ts';
import type { ContextBridge } from '../bridges/context.ts';
import type { DocumentPinStore } from '../bridges/document-stores.port.ts';
import type { Documents } from '../bridges/documents.ts';
import type { ClientAsker } from '../domain/questions/client-question.ts';
import { integer, oneOf, seconds } from '../domain/settings/rows.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import { EXECUTION_MAXIMA } from '../domain/tool/execution-settings.ts';
import type { CompositeExecutor } from '../executors/composite.ts';
import type { RateLimiter } from '../external/rate-limiter.port.ts';
import type { SecretStore } from '../external/secret-store.port.ts';
import type { Hooks } from '../hooks/run-hooks.ts';
import type { OutputFilters } from '../model-facing/output-filters.ts';
import type { Overflows } from '../model-facing/overflows.ts';
import type { AdversarialGate } from '../permission/adversarial-gate.ts';
import type { LayerLimits } from '../permission/compute-grant.ts';
import type { PolicyDecisions } from '../permission/policy-decisions.ts';
import type { Quota } from '../permission/quota.ts';
import type { TrustRules } from '../permission/trust.ts';
import type { Registry } from '../registry/registry.ts';
import type { Log } from '../telemetry/log.ts';
import type { SchemaValidator } from '../validation/schema-validator.ts';
import type { ApprovalQuestions } from './approval-questions.port.ts';
import type { IdempotencyStore } from './idempotency-store.port.ts';
import type { RunningCalls } from './ongoing/running-calls.ts';
import type { OutcomeStore } from './outcome-store.port.ts';
import type { LateEnds } from './record/late-ends.ts';
import type { Circuits } from './stages/attempts/circuits/circuits.ts';
import type { RetryRules } from './stages/attempts/retry-rules.ts';
import type { OutputMemory } from './stages/determinism/output-memory.ts';
import type { Identify, IdentifyAgain } from './stages/identify.ts';
import type { ValueRules } from './stages/values/value-rules.ts';
import type { StateParts } from './undo/state/call-state.ts';
import type { TransactionParts } from './undo/transaction.ts';
import type { DependencyGates } from './visible/dependency-gates.ts';
import type { VisibleTools } from './visible-tools.ts';

/** Settings of the pipeline. */
export const CALL_SETTINGS = {
  callsMax: integer('calls.max', {
    unit: 'calls',
    minimum: 1,
    default: 1000,
    sentence:
      'Calls under way at once in an instance; more are refused with E3803. As many more may wait for a slot of their agent.',
  }),
  callsPerAgentMax: integer('calls.per_agent_max', {
    unit: 'calls',
    minimum: 1,
    default: 8,
    sentence:
      'Calls of one agent that run at once, in all instances together unless calls.slot_store is memory. More wait for their turn, each as long as its own timeout, and end with E3106 when none has come by then.',
  }),
  callsWaitingPerAgentMax: integer('calls.per_agent_waiting_max', {
    unit: 'calls',
    minimum: 0,
    default: 100,
    sentence: 'Calls of one agent that wait for their turn in an instance; more are refused with E3106 at once.',
  }),
  argumentDepthMax: integer('calls.argument_depth_max', {
    unit: 'levels',
    minimum: 1,
    default: 64,
    sentence: 'Deepest nesting of arguments.',
  }),
  argumentBytesMax: integer('calls.argument_bytes_max', {
    unit: 'bytes',
    minimum: 1,
    default: 1 * MiB,
    sentence: 'Largest text within the arguments of a call.',
  }),
  timeoutMsMax: EXECUTION_MAXIMA.timeoutMs,
  laterTimeoutMsMax: seconds('workers.timeout_seconds_max', {
    timed: true,
    minimum: 0.001,
    default: 86_400,
    sentence: 'Longest timeout of an asynchronous call, extensions included.',
  }),
  rateAlgorithm: oneOf('rate.algorithm', RateAlgorithm.enum, {
    default: 'token_bucket',
    sentence: 'How the calls of a rate limit are counted that names no algorithm of its own.',
  }),
  externalRate: {
    per_minute: integer('rate.external_per_minute', {
      unit: 'calls',
      minimum: 1,
      default: 60,
      sentence: 'Calls a minute to an HTTP tool that names no rate limit.',
    }),
    burst: integer('rate.external_burst', {
      unit: 'calls',
      minimum: 1,
      default: 10,
      sentence: 'Size of that token bucket; the other algorithms have none.',
    }),
  },
  apiRate: {
    per_minute: integer('rate.api_per_minute', {
      unit: 'calls',
      minimum: 1,
      default: 300,
      sentence: 'Calls a minute of a tenant to one host, with all HTTP tools together, that rate.apis does not name.',
    }),
    burst: integer('rate.api_burst', {
      unit: 'calls',
      minimum: 1,
      default: 50,
      sentence: 'Size of that token bucket.',
    }),
  },
  idempotencyTtlMs: seconds('idempotency.ttl_seconds', {
    whole: true,
    minimum: 1,
    default: 86_400,
    sentence: 'How long an idempotency key stays taken.',
  }),
};

/** Limits of the pipeline. */
export interface PipelineLimits extends ValuesOf<typeof CALL_SETTINGS> {
  /** Limits of a call that names none, and the limits that no call exceeds. */
  readonly layer: LayerLimits;
  /**
   * Rates by host (with its port unless that is the default one), and by `mcp:` and the name of an upstream. Hosts that
   * are not listed have `apiRate`; upstreams that are not listed have none.
   */
  readonly apiRates: ReadonlyMap<string, RateLimit>;
}

/** Dependencies of the stages and wrappers. Each stage takes the few it needs. */
export interface PipelineParts {
  readonly clock: Clock;
  /** The time that all instances share: approvals end by it. */
  readonly sharedClock: Clock;
  readonly log: Log;
  readonly instanceId: string;
  readonly limits: PipelineLimits;
  /** Sandbox context of agents that bring none of their own; a request's own context can only narrow it (BC-1). */
  readonly agentContext: AgentSandboxContext;
  readonly identify: Identify;
  /** Restores the identity of the caller of a call that waited, unless its token was revoked meanwhile. */
  readonly identifyAgain: IdentifyAgain;
  /** Creates the questions that people are asked; absent without workers, and then calls that need one are refused (ORC-03). */
  readonly approvalQuestions?: ApprovalQuestions;
  /** Workers that run calls later (PIPE-07); absent when the operator runs none, and then asynchronous calls are refused. */
  readonly workers?: {
    /** The reason why no more calls are accepted now: E3803 with a retry hint (PIPE-08). Synchronous. */
    refuses(priority: CallPriority): Failure | undefined;
  };
  readonly registry: Registry;
  readonly visible: VisibleTools;
  readonly schemas: SchemaValidator;
  /** Rules for arguments and results besides their schemas (VAL-02 to VAL-06). */
  readonly values: ValueRules;
  /** Shorten results for models; none when absent (MOD-06). */
  readonly outputFilters?: OutputFilters;
  /** Whole texts of shortened results. */
  readonly overflows: Overflows;
  /** Removes personal data and secrets from the failures that tools report (AUD-04). */
  readonly redactor: Redactor;
  readonly policy: PolicyDecisions;
  /** Trust levels, and what runs without confirmation (PRM-06). */
  readonly trust: TrustRules;
  /** Number of calls that a session may make (PRM-07). */
  readonly quota: Quota;
  /** A language model that judges calls; none when absent (PRM-08). */
  readonly gate?: AdversarialGate;
  /** The operator's hooks before and after a call; none when absent (PIPE-14). */
  readonly hooks?: Hooks;
  readonly executors: CompositeExecutor;
  /** Puts questions of tools to the clients of their calls. */
  readonly clients: ClientAsker;
  /** Records how changes are undone; `createPipeline` adds the undoer of calls (PIPE-03). */
  readonly transactions: TransactionParts;
  /** State that tools keep; `transactions` must have an undoer for its steps (PIPE-03). */
  readonly state: StateParts;
  /** States from which interrupted work continues (STA-01). */
  readonly checkpoints: Checkpoints;
  /** Contexts of sessions, for tools that ask for them (STA-04). */
  readonly context: Pick<ContextBridge, 'sessionContext'>;
  /** Documents for tools (DOC-01). */
  readonly documents: {
    readonly bridge: Documents;
    readonly pins: DocumentPinStore;
    /**
     * Where the document server is whose own tools the policies of documents judge too; undefined for every other upstream.
     * @param tenantId owner of the upstream
     */
    serverAt(tenantId: string, upstream: string): 'here' | 'elsewhere' | undefined;
    /** Whether versions are pinned where neither the call nor the manifest says. */
    readonly isPinning: boolean;
  };
  /** Hold back tools in lists until others completed; none when absent (MOD-05). */
  readonly gates?: DependencyGates;
  /** Outputs of tools that claim to be deterministic (PIPE-10). */
  readonly outputs: OutputMemory;
  /** Calls with an unknown outcome, and their settlements (PIPE-13). */
  readonly outcomes: OutcomeStore;
  readonly secrets: SecretStore;
  readonly rateLimiter: RateLimiter;
  /** Circuits that keep calls away from failing services; none when absent (CIR-01). */
  readonly circuits?: Circuits;
  /** How failed attempts are retried (PIPE-05). */
  readonly retries: RetryRules;
  readonly idempotency: IdempotencyStore;
  readonly ledger: Ledger;
  /** Writes the ends of calls that the ledger did not take at first (ORC-06). */
  readonly lateEnds: LateEnds;
  readonly records: LedgerStore;
  readonly running: RunningCalls;
  /** Called with the duration of each stage, in ms; optional. */
  readonly onStage?: (stage: string, ms: number) => void;
}
