import type { CallOwner } from '../../domain/invocation/call-owner.ts';

/** A result of MCP, as a context server sent it. Untrusted. */
export interface ContextAnswer {
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** The context server of a tenant: any MCP server with the tools of 003 task 5 (STA-04). */
export interface ContextServerCalls {
  /** Whether a tenant has a context server. */
  has(tenantId: string): boolean;
  /**
   * Calls a tool for the owner of a task.
   * @returns undefined when the tenant has no context server
   * @throws ToolLayerError as calls of upstreams do
   */
  call(
    owner: CallOwner,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<ContextAnswer | undefined>;
}
