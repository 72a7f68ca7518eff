import type { ToolErrorBody } from '../../../api/schemas/error.ts';
import type { InvocationStatus, ToolInvokeResponse } from '../../../api/schemas/invocation.ts';
import type { Category, SideEffectPolicy } from '../../../api/schemas/tool-manifest.ts';
import type { VisibleTool } from '../../../api/schemas/visibility.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';

/** What a toolbox is made from: a layer in this process or a client of one, and who the agent is. */
export interface ToolboxOptions {
  readonly layer: ToolLayer;
  /** The agent's capability token. */
  readonly token?: string;
  /** More of who asks; its token wins over `token`. */
  readonly caller?: Partial<Caller>;
  /** Most executions of one batch; 10 when absent. */
  readonly maxBatchSize?: number;
}

/** An execution that an agent plans (004 §4.1). */
export interface PlannedToolExecution {
  /** The name that the agent knows the tool by. */
  readonly toolName: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Exact version or range; the newest when absent. */
  readonly version?: string;
  /** One answer for every execution with this key. */
  readonly idempotencyKey?: string;
  /** Whether a batch stops when this fails; true when absent. */
  readonly critical?: boolean;
}

/** How one execution ended. */
export interface ToolResult {
  readonly toolName: string;
  /** `cached`: an earlier execution with the same idempotency key answered. */
  readonly status: 'success' | 'cached' | 'error';
  readonly success: boolean;
  /** What the layer says of the call, for example `pending_approval`; absent when there was no call. */
  readonly callStatus?: InvocationStatus;
  readonly data?: unknown;
  readonly error?: ToolErrorBody;
  readonly invocationId?: string;
  readonly executionTimeMs?: number;
  readonly warnings?: ToolInvokeResponse['warnings'];
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
  execute(planned: PlannedToolExecution): Promise<ToolResult>;
  /**
   * Runs several, one after the other, and stops after the first critical one that fails; what did not run has no result.
   * @throws ToolLayerError E3810 for more than `maxBatchSize`; nothing runs then
   */
  executeBatch(planned: readonly PlannedToolExecution[]): Promise<readonly ToolResult[]>;
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
}
