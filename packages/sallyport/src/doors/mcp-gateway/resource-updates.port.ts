import type { Caller } from '../../domain/principal/principal.ts';

/** Changes of the resources of upstreams, for the subscriptions of clients. Filled by the layer in this process. */
export interface ResourceUpdates {
  /**
   * Notifies of each change until disposed. Says nothing about who may read the resource: the gateway asks first.
   * @param caller over whose connection, where the upstream has one for each caller
   * @throws ToolLayerError E3809 when the server does not report changes; its refusal; E3803 when too many are watched;
   *   what the caller's connection fails with
   */
  watch(
    caller: Caller,
    resource: { readonly upstream: string; readonly uri: string },
    listener: ResourceListener,
  ): Promise<Disposable>;
}

/** Notified of a resource. */
export interface ResourceListener {
  onUpdated(): void;
  /** The caller's connection to the upstream ended, and the subscription with it. */
  onEnded(): void;
}
