import type { Static } from 'typebox';
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

/** What a toolbox is made from: a layer in this process or a client of one, and who the agent is. */
export interface ToolboxOptions extends TurnContext {
  readonly layer: ToolLayer;
  /** The agent's capability token. */
  readonly token?: string;
  /** More of who asks; its token wins over `token`. */
  readonly caller?: Partial<Caller>;
  /** Most executions of one batch; 10 when absent. */
  readonly maxBatchSize?: number;
  /** Longest wait for a confirmed call, in ms; 30 000 when absent. */
  readonly confirmTimeoutMs?: number;
}

/** The turn in which an agent executes (004 §4.1). What it leaves out, the options of the toolbox say. */
export interface TurnContext {
  /**
   * The attempt at answering that the turn belongs to: turns that supersede one another share it, and within it each tool
   * runs once for the same business (004 §6). Letters, digits and `._~-`, 128 at most.
   */
  readonly turnGroupId?: string;
  /**
   * Asked just before each irreversible tool, also within a batch (004 §10.1). Without it nothing is asked. What it throws,
   * and a word that is none of the four, keeps the tool from running.
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
  /** Exact version or range; the newest when absent. */
  readonly version?: string;
  /** One answer for every execution with this key; wins over the turn group. */
  readonly idempotencyKey?: string;
  /** Whether a batch stops when this fails; true when absent. */
  readonly critical?: boolean;
}

/** How one execution ended. */
export interface ToolResult {
  readonly toolName: string;
  /**
   * `cached`: an earlier execution with the same key answered. `skipped`: the turn was superseded and nothing ran.
   * `confirmation`: a person has to say yes first.
   */
  readonly status: 'success' | 'cached' | 'error' | 'skipped' | 'confirmation';
  readonly success: boolean;
  /** An earlier execution answered, a failed one too. */
  readonly cached: boolean;
  /** What the layer says of the call, for example `pending_approval`; absent when there was no call. */
  readonly callStatus?: InvocationStatus;
  readonly data?: unknown;
  readonly error?: ToolErrorBody;
  /** The error in the words for a model: the `[tool_error]` block. Present with `error`. */
  readonly modelText?: string;
  /** What the caller decided before it ran; absent when nothing was asked or nothing waited. */
  readonly supersede?: SupersedeDecision;
  /** What a person is asked; hand it to `executeConfirmed` once there is a yes. */
  readonly confirmation?: ConfirmationRequest;
  readonly invocationId?: string;
  readonly executionTimeMs?: number;
  readonly warnings?: ToolInvokeResponse['warnings'];
}

/** A call that waits for a person's yes (004 §10.2). */
export interface ConfirmationRequest {
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the person is asked. */
  readonly prompt: string;
  readonly reason: Static<typeof PendingApproval>['reason'];
  readonly approvalId: string;
  readonly invocationId: string;
  /** ISO 8601; after that nobody can say yes any more. */
  readonly expiresAt: string;
}

/** Whose yes it is. */
export interface Confirming {
  /** Who says yes; the toolbox's own caller when absent. He needs the right to approve: the layer decides. */
  readonly approver?: Partial<Caller>;
  readonly reason?: string;
}

/** What an agent weighs before it uses a tool; overrides of its activation are in it. */
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

/** A tool that the tenant has; its schema only where the agent may use it. */
export interface ToolDefinition extends VisibleTool {
  readonly parameters_schema?: Readonly<Record<string, unknown>>;
}

/** The tools of one agent (VIS-02): what it may use, what it could ask for, and the way to use them. */
export interface Toolbox extends Disposable {
  /** Runs one tool. Never throws: what went wrong is in the result. */
  execute(planned: PlannedToolExecution, turn?: TurnContext): Promise<ToolResult>;
  /**
   * Runs several, one after the other, and stops after the first critical one that fails, or when the turn is superseded;
   * what did not run has no result.
   * @throws ToolLayerError E3810 for more than `maxBatchSize`; nothing runs then
   */
  executeBatch(planned: readonly PlannedToolExecution[], turn?: TurnContext): Promise<readonly ToolResult[]>;
  /**
   * Says yes to a call that waits and gives its end, or what it still waits for. The call goes through every check again:
   * a yes passes no policy by (VIS-06). Never throws.
   */
  executeConfirmed(confirmation: ConfirmationRequest, confirming?: Confirming): Promise<ToolResult>;
  /** Undefined for a tool that the agent may not use. */
  getMetadata(toolName: string): Promise<ToolMetadata | undefined>;
  /** Whether the agent may use a tool. */
  isAvailable(toolName: string): Promise<boolean>;
  /** Names of the tools that the agent may use. */
  listAvailable(): Promise<readonly string[]>;
  /** Tools that the tenant has and the agent may not use, each with the reason. */
  getUnavailableTools(): Promise<readonly VisibleTool[]>;
  /** Whether the tenant has a tool, by its id, or by the name that the agent knows it by. */
  isTenantAvailable(toolName: string): Promise<boolean>;
  /** What the tenant has under an id, or the agent under a name; undefined for nothing. */
  getToolDefinition(toolName: string): Promise<ToolDefinition | undefined>;
  /**
   * What a call left behind, as 004 §4.1 has it.
   * @throws ToolLayerError E3809 for a call that left nothing behind or is not the agent's
   */
  getSideEffect(invocationId: string): Promise<SideEffectRecord>;
  /**
   * Takes it back, once, by the tool that the tool names (VIS-03).
   * @throws ToolLayerError E3809, E3818
   */
  compensate(invocationId: string, args?: Readonly<Record<string, unknown>>): Promise<CompensationOutcome>;
  /**
   * Takes back what the calls left behind, the last that ran first: those of a turn group, or these in the order in which
   * they ran, for example of a batch. Stops at the first that could not be taken back unless told to go on.
   * @throws ToolLayerError E3809, E3810 for more than 100
   */
  compensateAll(
    of: { readonly turnGroupId: string } | { readonly invocationIds: readonly string[] },
    options?: { readonly continueOnFailure?: boolean },
  ): Promise<CompensateAllResponse>;
}
