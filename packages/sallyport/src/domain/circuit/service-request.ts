/** A request of the layer's own to a service that tools call too: it belongs to no attempt of a tool. */
export interface ServiceRequest {
  /** The service as settings name it: `mcp:documents`. */
  readonly service: string;
  readonly tenantId: string;
  /** For whom it is made. */
  readonly agentDid: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Makes such a request, if it may be made.
 * @throws ToolLayerError when it may not; what `work` throws
 */
export type RequestService = <Answer>(request: ServiceRequest, work: () => Promise<Answer>) => Promise<Answer>;
