import type { DocumentTool } from '../domain/document/document-tools.ts';

/** Who reads documents. */
export interface DocumentReader {
  readonly tenantId: string;
  readonly agentDid: string;
  readonly userDid?: string;
  /** Values of the credentials of the call, by name: for servers with a connection for each caller. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** An MCP server with the tools of a document server, or another source that answers like one. */
export interface DocumentServer {
  /**
   * Names the readers of a tenant who share remembered answers: empty for all of them; one agent and user when the server
   * is asked with their own credentials.
   */
  scopeOf(reader: DocumentReader): string;
  /**
   * Calls a tool.
   * @param timeoutMs of this one request
   * @returns the server's `CallToolResult`; untrusted
   * @throws ToolLayerError of an upstream's call: E3103 out of time, E3308 unreadable, E3310 not running, and others
   */
  call(
    reader: DocumentReader,
    tool: DocumentTool,
    args: Readonly<Record<string, unknown>>,
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<unknown>;
}
