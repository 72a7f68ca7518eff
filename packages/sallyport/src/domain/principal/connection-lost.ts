/**
 * Reason with which a door aborts the signal of a caller whose connection ended before the answer. That is no cancel: a
 * call under an idempotency key runs to its end, and the retry gets the answer (PIPE-09).
 */
export class ConnectionLost extends Error {
  constructor() {
    super('The connection of the caller ended.');
    this.name = 'ConnectionLost';
  }
}
