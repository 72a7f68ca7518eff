/** Changes of the resources of upstreams, for the subscriptions of clients. Filled by the layer in this process. */
export interface ResourceUpdates {
  /**
   * Notifies of each change until disposed. Says nothing about who may read the resource: the gateway asks first.
   * @throws ToolLayerError E3809 when the server does not report changes; its refusal; E3803 when too many are watched
   */
  watch(tenantId: string, upstream: string, uri: string, onUpdated: () => void): Promise<Disposable>;
}
