import type { Redactor } from '@sallyport/guards';
import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import type { AgentSandboxContext } from '../../api/schemas/agent-sandbox-context.ts';
import type { ToolInvokeRequest } from '../../api/schemas/invocation.ts';
import type { RateLimit } from '../../api/schemas/tool-manifest.ts';
import type { Ledger } from '../audit/ledger.ts';
import type { LedgerStore } from '../audit/ledger-store.port.ts';
import { integer, seconds } from '../domain/settings/rows.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import { EXECUTION_MAXIMA } from '../domain/tool/execution-settings.ts';
import type { CompositeExecutor } from '../executors/composite.ts';
import type { RateLimiter } from '../external/rate-limiter.port.ts';
import type { SecretStore } from '../external/secret-store.port.ts';
import type { Hooks } from '../hooks/run-hooks.ts';
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
import type { VisibleTools } from './visible-tools.ts';

/** How urgent a call is. */
export type CallPriority = NonNullable<NonNullable<ToolInvokeRequest['execution_options']>['priority']>;

/** What can be set of the pipeline. */
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
      'Calls of one agent that run at once in an instance. More wait for their turn, each as long as its own timeout, and end with E3106 when none has come by then.',
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
    minimum: 0.001,
    default: 86_400,
    sentence: 'Longest timeout of an asynchronous call, extensions included.',
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
      sentence: 'Size of that token bucket.',
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

/** Bounds of the pipeline. */
export interface PipelineLimits extends Omit<ValuesOf<typeof CALL_SETTINGS>, 'laterTimeoutMsMax' | 'apiRate'> {
  /** What a call gets when nobody says, and what none exceeds. */
  readonly layer: LayerLimits;
  /** Longest timeout of a call that a worker runs, extensions included; as of a synchronous one when absent (PIPE-12). */
  readonly laterTimeoutMsMax?: number;
  /** What all tools of a tenant share that call one host, where `apiRates` says nothing of it; no bound when absent. */
  readonly apiRate?: RateLimit;
  /** The same by host (with its port where that is not the usual one), and by `mcp:` and the name of an upstream. */
  readonly apiRates?: ReadonlyMap<string, RateLimit>;
}

/** Everything the stages and wrappers stand on. Each stage takes the few it needs. */
export interface PipelineParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly instanceId: string;
  readonly limits: PipelineLimits;
  /** Bounds of agents that bring none of their own; a request's own context can only narrow them (BC-1). */
  readonly agentContext: AgentSandboxContext;
  readonly identify: Identify;
  /** Who asked for a call that waited, unless the token was revoked meanwhile. */
  readonly identifyAgain: IdentifyAgain;
  /** Makes the questions that people are asked; calls that need one are refused when absent (ORC-03). */
  readonly approvalQuestions?: ApprovalQuestions;
  /** Whether calls can be run later by a worker (PIPE-07); asynchronous calls are refused when absent. */
  readonly workers?: {
    readonly accepts: boolean;
    /** Why no more of them are taken now: E3803 with a hint when to come again (PIPE-08). At once. */
    refuses?(priority: CallPriority): Failure | undefined;
  };
  readonly registry: Registry;
  readonly visible: VisibleTools;
  readonly schemas: SchemaValidator;
  /** How arguments and results are judged beside their schemas; the defaults for what is absent (VAL-02 to VAL-06). */
  readonly values?: Partial<ValueRules>;
  /** Takes personal data and secrets out of what tools say of their failures; nothing is taken out when absent (AUD-04). */
  readonly redactor?: Redactor;
  readonly policy: PolicyDecisions;
  /** Who is trusted how far, and what runs without confirmation; the defaults when absent (PRM-06). */
  readonly trust?: TrustRules;
  /** Calls that a session may make; no bound when absent (PRM-07). */
  readonly quota?: Quota;
  /** A language model that judges calls; none when absent (PRM-08). */
  readonly gate?: AdversarialGate;
  /** What an operator hangs before and after a call; nothing when absent (PIPE-14). */
  readonly hooks?: Hooks;
  readonly executors: CompositeExecutor;
  /** Keeps what takes changes back; without it tools change state outside of transactions (PIPE-03). */
  readonly transactions?: TransactionParts;
  /** What tools keep; with it `transactions` must take back steps of its kind. Tools keep nothing when absent (PIPE-03). */
  readonly state?: StateParts;
  /** What tools gave that say they are deterministic; nothing is compared when absent (PIPE-10). */
  readonly outputs?: OutputMemory;
  /** Calls whose outcome is not known, and what became of them; not kept when absent (PIPE-13). */
  readonly outcomes?: OutcomeStore;
  readonly secrets: SecretStore;
  readonly rateLimiter: RateLimiter;
  /** What keeps calls away from services that fail; nothing does when absent (CIR-01). */
  readonly circuits?: Circuits;
  /** How failed attempts are tried again; the defaults when absent (PIPE-05). */
  readonly retries?: RetryRules;
  readonly idempotency: IdempotencyStore;
  readonly ledger: Ledger;
  /** Where the end of a call goes that the ledger did not take; it is lost to the next start when absent (ORC-06). */
  readonly lateEnds?: LateEnds;
  readonly records: LedgerStore;
  readonly running: RunningCalls;
  /** Told how long each stage took, in ms; absent when nobody listens. */
  readonly onStage?: (stage: string, ms: number) => void;
}
