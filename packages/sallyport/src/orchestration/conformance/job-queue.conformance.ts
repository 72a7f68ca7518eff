import { deepEqual, equal, rejects } from 'node:assert/strict';
import { casesOver, type OpenStore, type TestCase } from '@sallyport/std/adapter-cases';
import type { Job, JobQueue } from '../job-queue.port.ts';

const NOW = 1_790_000_000_000;

/** Requirements of every JobQueue. `open` gives an empty one each time. */
export function jobQueueConformance(test: TestCase, adapter: string, open: OpenStore<JobQueue>): void {
  const check = casesOver(test, adapter, open);

  check('ORC-01 a job comes out once', async (queue) => {
    await queue.add([job('a')]);
    equal(await queue.length(), 1);
    deepEqual(await queue.next(), keyOf(job('a')));
    equal(await queue.length(), 0);
    await queue.add([job('a')]);
    deepEqual(await queue.next(), keyOf(job('a')));
  });

  check('PIPE-08.1 jobs come out in order of what is due first', async (queue) => {
    const jobs = [job('low', 60_000), job('first', 0), job('second', 0), job('high', -30_000), job('normal', 10_000)];
    await queue.add(jobs.slice(0, 2));
    await queue.add(jobs.slice(2));
    const order = [];
    for (const _ of jobs) order.push((await queue.next())?.invocationId);
    deepEqual(order, ['high', 'first', 'second', 'normal', 'low']);
  });

  check('a call stands in the queue once, and tenants are kept apart', async (queue) => {
    await queue.add([]);
    await queue.add([job('a'), job('a', 5_000)]);
    await queue.add([job('a'), { ...job('a', 9_000), tenantId: 'globex:1 \0' }]);
    equal(await queue.length(), 2);
    deepEqual(await queue.next(), keyOf(job('a')));
    deepEqual(await queue.next(), { tenantId: 'globex:1 \0', invocationId: 'a' });
  });

  check('a job that comes while somebody waits is taken at once', async (queue) => {
    const waiting = queue.next();
    await queue.add([job('late')]);
    deepEqual(await waiting, keyOf(job('late')));
  });

  check('a removed job does not come out', async (queue) => {
    await queue.add([job('a'), job('b', 1_000)]);
    equal(await queue.remove(job('a')), true);
    equal(await queue.remove(job('a')), false);
    deepEqual(await queue.next(), keyOf(job('b')));
  });

  check('closing ends a wait', async (queue) => {
    const waiting = queue.next();
    await queue.close();
    equal(await waiting, undefined);
    await queue.close();
  });

  check('a closed queue takes nothing in, and says so', async (queue) => {
    await queue.close();
    await rejects(queue.add([job('late')]), { code: 'E3812' });
  });

  check('many jobs come out each once', async (queue) => {
    const ids = Array.from({ length: 60 }, (_, at) => `job-${at}`);
    await queue.add(ids.map((id) => job(id)));
    const taken = [];
    for (const _ of ids) taken.push((await queue.next())?.invocationId);
    deepEqual(taken, ids);
  });
}

const job = (invocationId: string, later = 0): Job => ({ tenantId: 'acme', invocationId, due: NOW + later });
const keyOf = ({ tenantId, invocationId }: Job) => ({ tenantId, invocationId });
