import type { Caller } from '../domain/principal/principal.ts';
import type { OperationInput, OperationName, OperationOutput } from './catalogue.ts';

/**
 * The layer as every door sees it. There are two of them: the one in this process, and a client of one that runs
 * elsewhere on the same data folder; a door cannot tell them apart.
 */
export interface ToolLayer {
  /**
   * Asks for one operation. Input is checked against the operation's schema before anything else.
   * A tool call that was accepted answers with its response, whatever became of it; every other unhappy end throws.
   * @throws ToolLayerError E3801 for malformed input, E32xx for who may not ask, and what the operation names
   */
  ask<N extends OperationName>(operation: N, input: OperationInput<N>, caller: Caller): Promise<OperationOutput<N>>;
  /** Tells when the set of tools changed, until the returned handle is disposed. Never called synchronously. */
  onToolsChanged(listener: () => void): Disposable;
}
