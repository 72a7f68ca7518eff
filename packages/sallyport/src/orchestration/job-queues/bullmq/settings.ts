/** What can be set of the queue on PostgreSQL. */
export interface BullmqSettings {
  /** Name of the queue; layers that share a database and a name share their work. */
  readonly queue: string;
  /** Schema that BullMQ makes for itself. */
  readonly schema: string;
  /** Connections at most, one of which listens. At least 2. */
  readonly poolMax: number;
  /** Longest wait for a job, in ms. */
  readonly waitMs: number;
  /** After which time a job that a process took and never finished taking is given to another, in ms. */
  readonly lockMs: number;
}

export const BULLMQ_DEFAULTS: BullmqSettings = {
  queue: 'sallyport-calls',
  schema: 'bullmq',
  poolMax: 3,
  waitMs: 5_000,
  lockMs: 10_000,
};
