/**
 * Why a door aborts the signal of a caller whose connection ended before the answer. Nobody said that the call is not wanted
 * any more: a call under an idempotency key goes on, and its answer waits for the retry (PIPE-09).
 */
export class ConnectionLost extends Error {
  constructor() {
    super('The connection of the caller ended.');
    this.name = 'ConnectionLost';
  }
}
