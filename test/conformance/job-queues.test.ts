import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { jobQueueConformance } from '../../packages/sallyport/src/orchestration/conformance/job-queue.conformance.ts';
import { openBullmqJobQueue } from '../../packages/sallyport/src/orchestration/job-queues/bullmq/bullmq-job-queue.ts';
import { memoryJobQueue } from '../../packages/sallyport/src/orchestration/job-queues/memory/memory-job-queue.ts';
import { startEmbeddedPostgres } from '../../packages/sallyport/src/storage/postgres/embedded-postgres.ts';
import { poolTarget } from '../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import { silentLog } from '../../packages/sallyport/src/telemetry/log.ts';

describe('memory', () => {
  jobQueueConformance(test, 'memory', async () => {
    const store = memoryJobQueue();
    return { store, close: store.close };
  });
});

describe('BullMQ on PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
  let dataFolder: string;
  let opened = 0;
  beforeAll(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), 'sallyport-queue-'));
    server = await startEmbeddedPostgres({ dataFolder, log: silentLog });
  });
  afterAll(async () => {
    await server.close();
    await rm(dataFolder, { recursive: true });
  });
  jobQueueConformance(test, 'BullMQ on PostgreSQL', async () => {
    opened += 1;
    const settings = { queue: `queue-${opened}` };
    const store = await openBullmqJobQueue({ connection: poolTarget(server.connection), log: silentLog, settings });
    return { store, close: store.close };
  });
});
