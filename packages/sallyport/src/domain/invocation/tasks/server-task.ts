/** A task that an MCP server began for a call: the call continues by asking for it, and is not made a second time. */
export interface ServerTask {
  /** The server's own id of it. Foreign text. */
  readonly taskId: string;
}
