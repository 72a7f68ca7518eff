import type { Caller } from '../domain/principal/principal.ts';
import type { OperationInput, OperationName, OperationOutput } from './catalogue.ts';

/**
 * The layer as every door sees it. It has two implementations: the layer in this process, and a client of one that runs
 * elsewhere on the same data folder; a door cannot distinguish them.
 */
export interface ToolLayer {
  /**
   * Asks for one operation. Input is checked against the operation's schema before anything else. An accepted tool call
   * resolves to its response, however it ended; every other failure throws.
   * @throws ToolLayerError E3801 for malformed input, E32xx for an asker without access, and the errors of the
   *   operation
   */
  ask<N extends OperationName>(operation: N, input: OperationInput<N>, caller: Caller): Promise<OperationOutput<N>>;
  /**
   * Notifies the listener when the set of tools, or what upstreams offer beside them, changed, until the returned handle is disposed. Never called
   * synchronously.
   */
  onToolsChanged(listener: () => void): Disposable;
}
