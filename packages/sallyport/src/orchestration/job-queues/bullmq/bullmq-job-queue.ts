import { randomUUID } from 'node:crypto';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { JobProgress, PostgresConnectionOptions, PostgresQueueBackend, Queue, Worker } from 'bullmq';
import { Pool, type PoolConfig } from 'pg';
import type { CallKey } from '../../../domain/invocation/call-key.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Job, JobQueue } from '../../job-queue.port.ts';
import { BULLMQ_DEFAULTS, type BullmqSettings } from './settings.ts';

type PostgresQueue = Queue<
  unknown,
  unknown,
  string,
  unknown,
  unknown,
  string,
  PostgresQueueBackend,
  PostgresConnectionOptions
>;
type PostgresWorker = Worker<unknown, unknown, string, PostgresQueueBackend, JobProgress, PostgresConnectionOptions>;

/** Priorities that BullMQ accepts, from 1; 0 would come before all. */
const PRIORITIES = 2_097_151;
const JOB_NAME = 'call';

/** Dependencies of the queue. */
export interface BullmqQueueParts {
  /** Connection settings of `pg`. */
  readonly connection: PoolConfig;
  readonly log: Log;
  readonly settings?: Partial<BullmqSettings>;
}

/**
 * Opens the queue in a database, and migrates BullMQ's schema.
 * @throws ToolLayerError E3812 when the database cannot be reached or refuses
 */
export async function openBullmqJobQueue({ connection, log, settings: given }: BullmqQueueParts): Promise<JobQueue> {
  const settings = { ...BULLMQ_DEFAULTS, ...given };
  const pool = poolOf(connection, settings, log);
  // BullMQ takes a pool of `pg`; only its own typings of a pool are narrower.
  const ready = pool as unknown as PostgresConnectionOptions;
  try {
    // Loaded on first use, since it loads a Redis client too.
    const { createPostgresBackend, Queue, Worker, runMigrations } = await import('bullmq');
    const client = await pool.connect();
    try {
      await runMigrations(client, settings.schema);
    } finally {
      client.release();
    }
    const once = { removeOnComplete: true, removeOnFail: true, attempts: 1 };
    const queue: PostgresQueue = new Queue(
      settings.queue,
      { connection: ready, defaultJobOptions: once },
      createPostgresBackend,
    );
    const worker: PostgresWorker = new Worker(
      settings.queue,
      null,
      workerOptions(ready, settings),
      createPostgresBackend,
    );
    const failed = (error: Error): void => log.warn('job-queue-failed', { reason: error.message });
    queue.on('error', failed);
    worker.on('error', failed);
    await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);
    await worker.startStalledCheckTimer();
    return jobQueue(queue, worker, pool);
  } catch (cause) {
    await pool.end();
    if (cause instanceof ToolLayerError) throw cause;
    throw new ToolLayerError('E3812', 'The queue of calls cannot be opened in the database. Look at its log.', {
      cause,
    });
  }
}

function poolOf(connection: PoolConfig, { schema, poolMax }: BullmqSettings, log: Log): Pool {
  const pool = new Pool({
    ...connection,
    max: poolMax,
    keepAlive: true,
    // The sweep finds a job that the server loses in a crash, so no commit has to wait for its disk.
    options: `-c search_path=${schema} -c synchronous_commit=off`,
    fallback_application_name: 'sallyport-queue',
  });
  pool.on('error', (error) => {
    if (!pool.ending) log.warn('job-queue-connection-lost', { reason: error.message });
  });
  // The pool reports errors of idle connections only, and an unhandled error event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

const workerOptions = (connection: PostgresConnectionOptions, { waitMs, lockMs }: BullmqSettings) => ({
  connection,
  autorun: false,
  drainDelay: waitMs / 1000,
  lockDuration: lockMs,
  stalledInterval: lockMs,
});

function jobQueue(queue: PostgresQueue, worker: PostgresWorker, pool: Pool): JobQueue {
  const token = randomUUID();
  const additions = grouped((jobs) => inQueue('take a job in', () => queue.addBulk(jobs.map(bulkJobOf))));
  let closing: Promise<void> | undefined;
  let taking: Promise<CallKey | undefined> | undefined;
  const close = async (): Promise<void> => {
    // Wakes a waiting reader first: nothing would wake it after the close.
    await worker.getBackend().disconnectBlocking();
    await taking?.catch(() => undefined);
    await additions.settled();
    await worker.close(true);
    await queue.close();
    await pool.end();
  };
  const closeOnce = (): Promise<void> => {
    closing ??= close();
    return closing;
  };
  // BullMQ would never settle the promise of the caller.
  const refuseIfClosed = (): void => {
    if (closing !== undefined) throw new ToolLayerError('E3812', 'The queue of calls is closed.');
  };
  const take = async (block: boolean): Promise<CallKey | undefined> => {
    if (closing !== undefined) return undefined;
    const job = await worker.getNextJob(token, { block });
    if (job === undefined) return undefined;
    await job.moveToCompleted(null, token, false);
    return callOf(job.data);
  };
  return {
    async add(jobs) {
      refuseIfClosed();
      if (jobs.length > 0) await additions.add(jobs);
    },
    next() {
      // A worker waits only after it has found the queue empty.
      taking = inQueue('give a job out', async () => (await take(false)) ?? take(true));
      return taking;
    },
    async remove(call) {
      refuseIfClosed();
      return inQueue('drop a job', async () => (await queue.remove(jobIdOf(call))) > 0);
    },
    async length() {
      refuseIfClosed();
      return inQueue('count its jobs', () => queue.count());
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

/** Jobs that come while others are being sent go together: a transaction for each takes a hundred times as long. */
function grouped(send: (jobs: readonly Job[]) => Promise<unknown>) {
  let waiting: Job[] = [];
  let next: Promise<void> | undefined;
  let flying: Promise<unknown> = Promise.resolve();
  const launch = async (): Promise<void> => {
    await flying.catch(() => undefined);
    const group = waiting;
    waiting = [];
    next = undefined;
    flying = send(group);
    await flying;
  };
  return {
    add(jobs: readonly Job[]): Promise<void> {
      waiting.push(...jobs);
      next ??= launch();
      return next;
    },
    settled: async (): Promise<void> => {
      await next?.catch(() => undefined);
      await flying.catch(() => undefined);
    },
  };
}

const bulkJobOf = (job: Job) => ({
  name: JOB_NAME,
  data: { call: Buffer.from(JSON.stringify([job.tenantId, job.invocationId])).toString('base64') },
  opts: { jobId: jobIdOf(job), priority: 1 + (Math.max(0, Math.floor(job.due / 1000)) % PRIORITIES) },
});

/** Hashed, since BullMQ gives some characters of an id a meaning. */
const jobIdOf = ({ tenantId, invocationId }: CallKey): string => sha256(JSON.stringify([tenantId, invocationId]));

function callOf(given: unknown): CallKey | undefined {
  const { call } = (given ?? {}) as { readonly call?: unknown };
  const read: unknown = JSON.parse(Buffer.from(String(call ?? ''), 'base64').toString() || 'null');
  if (!Array.isArray(read)) return undefined;
  const [tenantId, invocationId] = read;
  return typeof tenantId === 'string' && typeof invocationId === 'string' ? { tenantId, invocationId } : undefined;
}

async function inQueue<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new ToolLayerError('E3812', `The queue of calls could not ${action}. Check the database.`, { cause });
  }
}
