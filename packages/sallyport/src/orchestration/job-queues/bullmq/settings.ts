/** Settings of the queue on PostgreSQL. */
export interface BullmqSettings {
  /** Name of the queue; layers with the same database and name share their work. */
  readonly queue: string;
  /** Schema that BullMQ creates for itself. */
  readonly schema: string;
  /** Most connections, one of which listens. At least 2. */
  readonly poolMax: number;
  /** Longest wait for a job, in ms. */
  readonly waitMs: number;
  /** Ms after which a job that a process took and did not finish taking is given to another. */
  readonly lockMs: number;
}

export const BULLMQ_DEFAULTS: BullmqSettings = {
  queue: 'sallyport-calls',
  schema: 'bullmq',
  poolMax: 3,
  waitMs: 5_000,
  lockMs: 10_000,
};
