import type { Static } from 'typebox';
import type { OverflowPage } from '../../../api/schemas/calls/overflow.ts';
import type {
  CompensateAllResponse,
  CompensationOutcome,
  SideEffectRecord,
} from '../../../api/schemas/calls/side-effect.ts';
import type { ToolErrorBody } from '../../../api/schemas/error.ts';
import type { InvocationStatus, PendingApproval, ToolInvokeResponse } from '../../../api/schemas/invocation.ts';
import type { Category, SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import type { VisibleTool } from '../../../api/schemas/visibility.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';

/** What a toolbox is made from: a layer (in this process, or a client of one) and the agent's identity. */
export interface ToolboxOptions extends TurnContext {
  readonly layer: ToolLayer;
  /** The agent's capability token. */
  readonly token?: string;
  /** Further facts about the caller; its token wins over `token`. */
  readonly caller?: Partial<Caller>;
  /** Most executions of one batch; default 10. */
  readonly maxBatchSize?: number;
  /** Longest wait for a confirmed call, in ms; default 30 000. */
  readonly confirmTimeoutMs?: number;
}

/** The turn in which an agent executes (004 §4.1). Members left out come from the toolbox's options. */
export interface TurnContext {
  /**
   * The attempt at answering that the turn belongs to: turns that supersede one another share it, and within it each tool
   * runs once for the same business (004 §6). Letters, digits and `._~-`, 128 at most.
   */
  readonly turnGroupId?: string;
  /**
   * Asked just before each irreversible tool, also within a batch (004 §10.1). Default: nothing is asked. When it
   * throws or returns anything but one of the four words, the tool does not run.
   */
  readonly checkSupersede?: CheckSupersede;
}

/**
 * What a caller decides before an irreversible tool when newer messages wait: `SUPERSEDE` gives the turn up, and the tool
 * does not run; `ABSORB` (the caller took the messages in), `FORCE_COMPLETE` and `QUEUE` (they come after this turn, in a
 * turn group of their own) let it run. `undefined`: nothing waits.
 */
export type SupersedeDecision = 'SUPERSEDE' | 'ABSORB' | 'FORCE_COMPLETE' | 'QUEUE';
export type CheckSupersede = (
  planned: PlannedToolExecution,
  metadata: ToolMetadata,
) => SupersedeDecision | undefined | Promise<SupersedeDecision | undefined>;

/** An execution that an agent plans (004 §4.1). */
export interface PlannedToolExecution {
  /** The name that the agent knows the tool by. */
  readonly toolName: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Exact version or range; default: the newest. */
  readonly version?: string;
  /** Executions with the same key share one answer; wins over the turn group. */
  readonly idempotencyKey?: string;
  /** When in its step the tool runs; for the audit only: executions run in the order in which they are given. */
  readonly when?: 'BEFORE_STEP' | 'DURING_STEP' | 'AFTER_STEP';
  /** The rule, and the step of the plan, that the execution belongs to; for the audit. */
  readonly boundRuleId?: string;
  readonly boundStepId?: string;
  /** Stops a batch when this execution fails; default true. */
  readonly critical?: boolean;
}

/** How one execution ended. */
export interface ToolResult {
  readonly toolName: string;
  /**
   * `cached`: an earlier execution with the same key answered. `skipped`: the turn was superseded and nothing ran.
   * `confirmation`: a person must approve first.
   */
  readonly status: 'success' | 'cached' | 'error' | 'skipped' | 'confirmation';
  readonly success: boolean;
  /** True when an earlier execution answered, even a failed one. */
  readonly cached: boolean;
  /** The layer's status of the call, for example `pending_approval`; absent when there was no call. */
  readonly callStatus?: InvocationStatus;
  readonly data?: unknown;
  readonly error?: ToolErrorBody;
  /** The error worded for a model: the `[tool_error]` block. Present with `error`. */
  readonly modelText?: string;
  /** The caller's decision before the run; absent when nothing was asked or nothing waited. */
  readonly supersede?: SupersedeDecision;
  /** Question for a person; pass it to `executeConfirmed` after they approved. */
  readonly confirmation?: ConfirmationRequest;
  readonly invocationId?: string;
  readonly executionTimeMs?: number;
  readonly warnings?: ToolInvokeResponse['warnings'];
}

/** A call that waits for a person's approval (004 §10.2). */
export interface ConfirmationRequest {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The question for the person. */
  readonly prompt: string;
  readonly reason: Static<typeof PendingApproval>['reason'];
  readonly approvalId: string;
  readonly invocationId: string;
  /** ISO 8601; after that the call can no longer be approved. */
  readonly expiresAt: string;
}

/** The person who approves. */
export interface Confirming {
  /** The approver; default: the toolbox's own caller. The layer checks their right to approve. */
  readonly approver?: Partial<Caller>;
  readonly reason?: string;
}

/** The facts that an agent weighs before it uses a tool, with the overrides of its activation applied. */
export interface ToolMetadata {
  readonly name: string;
  readonly sideEffectPolicy: SideEffectPolicy;
  readonly requiresConfirmation: boolean;
  readonly confirmationPrompt?: string;
  readonly requiresApproval: boolean;
  readonly compensationTool?: string;
  readonly category?: Category;
  readonly tags: readonly string[];
  readonly isIrreversible: boolean;
  readonly isSafeToRetry: boolean;
}

/** A tool that the tenant has; its schema is present only when the agent may use it. */
export interface ToolDefinition extends VisibleTool {
  readonly parameters_schema?: Readonly<Record<string, unknown>>;
}

/** The tools of one agent (VIS-02): those it may use, those it could request, and the operations on them. */
export interface Toolbox extends Disposable {
  /** Runs one tool. Never throws: failures are in the result. */
  execute(planned: PlannedToolExecution, turn?: TurnContext): Promise<ToolResult>;
  /**
   * Runs several tools in sequence; stops after the first critical one that fails, or when the turn is superseded.
   * Tools that did not run have no result.
   * @throws ToolLayerError E3810 for more than `maxBatchSize`; nothing runs then
   */
  executeBatch(planned: readonly PlannedToolExecution[], turn?: TurnContext): Promise<readonly ToolResult[]>;
  /**
   * Approves a waiting call and returns its end, or what it still waits for. The call passes every check again: an
   * approval does not bypass policies (VIS-06). Never throws.
   */
  executeConfirmed(confirmation: ConfirmationRequest, confirming?: Confirming): Promise<ToolResult>;
  /** Undefined for a tool that the agent may not use. */
  getMetadata(toolName: string): Promise<ToolMetadata | undefined>;
  /** True when the agent may use a tool. */
  isAvailable(toolName: string): Promise<boolean>;
  /** Names of the tools that the agent may use. */
  listAvailable(): Promise<readonly string[]>;
  /** Tools that the tenant has but the agent may not use, each with the reason. */
  getUnavailableTools(): Promise<readonly VisibleTool[]>;
  /** True when the tenant has a tool, by its id or by the name that the agent knows it by. */
  isTenantAvailable(toolName: string): Promise<boolean>;
  /** The tool that the tenant has under an id, or the agent under a name; undefined when there is none. */
  getToolDefinition(toolName: string): Promise<ToolDefinition | undefined>;
  /**
   * A page of the whole text of a result that was cut or filtered; the result and its warnings say where to read on.
   * @throws ToolLayerError E3809 when the result was whole, its time is over, or the call is not the agent's
   */
  readOverflow(invocationId: string, offset?: number): Promise<OverflowPage>;
  /**
   * The side effect of a call (004 §4.1).
   * @throws ToolLayerError E3809 when the call left none or is not the agent's
   */
  getSideEffect(invocationId: string): Promise<SideEffectRecord>;
  /**
   * Compensates the side effect, once, with the tool that the call's tool names (VIS-03).
   * @throws ToolLayerError E3809, E3818
   */
  compensate(invocationId: string, args?: Readonly<Record<string, unknown>>): Promise<CompensationOutcome>;
  /**
   * Compensates the side effects of several calls, latest first: those of a turn group, or the given calls in the order
   * in which they ran, for example of a batch. Stops at the first failure unless asked to continue.
   * @throws ToolLayerError E3809, E3810 for more than 100
   */
  compensateAll(
    of: { readonly turnGroupId: string } | { readonly invocationIds: readonly string[] },
    options?: { readonly continueOnFailure?: boolean },
  ): Promise<CompensateAllResponse>;
}
