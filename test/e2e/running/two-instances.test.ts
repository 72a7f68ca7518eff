import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NativeCallContext } from '../../../packages/sallyport/src/executors/native/native-executor.ts';
import { openBullmqJobQueue } from '../../../packages/sallyport/src/orchestration/job-queues/bullmq/bullmq-job-queue.ts';
import {
  instance,
  LATER,
  over,
  type Shared,
  until,
} from '../../../packages/sallyport/src/orchestration/workers/workers.fixture.ts';
import {
  type PostgresConnection,
  poolTarget,
} from '../../../packages/sallyport/src/storage/postgres/postgres-connection.ts';
import {
  openPostgres,
  type PostgresDatabase,
} from '../../../packages/sallyport/src/storage/postgres/postgres-database.ts';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { silentLog } from '../../../packages/sallyport/src/telemetry/log.ts';

let databases: TestDatabases;
let connection: PostgresConnection;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  databases = await embeddedDatabases();
});
afterAll(() => databases.close());
beforeEach(async () => {
  connection = await databases.fresh();
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** The storage of one instance. */
async function sharedPostgres(): Promise<Shared & { readonly database: PostgresDatabase }> {
  const database = await openPostgres({ connection, poolMax: 4, log: silentLog });
  opened.push(database);
  const queue = () => openBullmqJobQueue({ connection: poolTarget(connection), log: silentLog });
  return { store: database.ledgerStore, leases: database.callLeaseStore, queue, database };
}

/** An instance whose heartbeats can be made to fail without its knowledge, as on a machine that is suspended. */
async function sleepy(id: string) {
  const shared = await sharedPostgres();
  let asleep = false;
  const leases = { ...shared.leases, beat: stillUnless(() => asleep, shared.leases.beat) };
  const made = await instance(id, { ...shared, leases });
  opened.push(made);
  return {
    ...made,
    shared,
    fallAsleep: () => {
      asleep = true;
    },
    wakeUp: () => {
      asleep = false;
    },
  };
}

const stillUnless =
  <A extends unknown[], R>(asleep: () => boolean, act: (...given: A) => Promise<R>) =>
  async (...given: A): Promise<R> => {
    if (asleep()) throw new Error('asleep');
    return act(...given);
  };

function held() {
  const runs: NativeCallContext[] = [];
  const ends: (() => void)[] = [];
  return {
    runs,
    /** Ignores the abort signal: runs until `end` is called. */
    deaf: (_parameters: unknown, context: NativeCallContext) => {
      runs.push(context);
      return new Promise((resolve) => ends.push(() => resolve('late')));
    },
    listening: (_parameters: unknown, context: NativeCallContext) => {
      runs.push(context);
      return new Promise((_resolve, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
      });
    },
    end: () => {
      for (const each of ends.splice(0)) each();
    },
  };
}

const running = (runs: readonly unknown[], count = 1) => until(() => (runs.length >= count ? true : undefined));

describe('two instances over one PostgreSQL', () => {
  test('ORC-01 what one has no room for the other runs', async () => {
    const shared = await sharedPostgres();
    const one = await instance('one', shared, { slots: 1 });
    opened.push(one);
    const two = await instance('two', await sharedPostgres());
    opened.push(two);
    const blocking = held();
    await one.tool('block', blocking.deaf);
    await one.tool('any', () => 'one');
    await two.tool('any', () => 'two');
    await one.workers.start();
    await two.workers.start();
    const blocked = await one.call({ tool_id: 'block', parameters: { n: 1 }, ...LATER });
    await running(blocking.runs);
    const many = [];
    for (let n = 0; n < 5; n += 1) many.push(await one.call({ tool_id: 'any', parameters: { n }, ...LATER }));
    // The first call may have been taken by the instance without a free slot, so only the others are checked.
    const ended = await Promise.all(many.slice(1).map((each) => over(shared, each)));
    expect(ended.map(({ result }) => result)).toEqual(['two', 'two', 'two', 'two']);
    blocking.end();
    for (const each of [blocked, ...many]) expect(await over(shared, each)).toMatchObject({ state: 'COMPLETED' });
  });

  test('ORC-01.3 an instance that stops renewing loses a safe call to the other, and its late end is refused', async () => {
    const one = await sleepy('one');
    const two = await sleepy('two');
    const slow = held();
    await one.tool('safe', slow.deaf);
    await two.tool('safe', () => 'taken over');
    await one.workers.start();
    const call = await one.call({ tool_id: 'safe', parameters: { n: 1 }, ...LATER });
    await running(slow.runs);
    one.fallAsleep();
    await two.workers.start();
    const done = await over(two.shared, call);
    expect(done).toMatchObject({ state: 'COMPLETED', result: 'taken over', fence: 2 });
    one.wakeUp();
    slow.end();
    await until(() => (one.workers.size === 0 ? true : undefined));
    expect(await two.shared.store.findInvocation('acme', call.invocationId)).toEqual(done);
  });

  test('ORC-06.4 a call that must not run again ends as outcome unknown, and the late result changes nothing', async () => {
    const one = await sleepy('one');
    const two = await sleepy('two');
    const slow = held();
    let others = 0;
    await one.tool('unsafe', slow.deaf, { side_effect_policy: 'irreversible' });
    await two.tool('unsafe', () => (others += 1), { side_effect_policy: 'irreversible' });
    await one.workers.start();
    const call = await one.call({ tool_id: 'unsafe', parameters: { n: 1 }, ...LATER });
    await running(slow.runs);
    one.fallAsleep();
    await two.workers.start();
    const unknown = await over(two.shared, call);
    expect(unknown).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
    slow.end();
    await until(() => (one.workers.size === 0 ? true : undefined));
    expect(await two.shared.store.findInvocation('acme', call.invocationId)).toEqual(unknown);
    expect([slow.runs.length, others]).toEqual([1, 0]);
  });

  test('ORC-06 one that lost its lease before it began reaches no tool', async () => {
    const shared = await sharedPostgres();
    let asleep = false;
    let woken = (): void => undefined;
    const nap = new Promise<void>((resolve) => {
      woken = resolve;
    });
    const leases = {
      ...shared.leases,
      beat: stillUnless(() => asleep, shared.leases.beat),
      begin: async (...given: Parameters<Shared['leases']['begin']>) => {
        asleep = true;
        await nap;
        return shared.leases.begin(...given);
      },
    };
    const one = await instance('one', { ...shared, leases });
    opened.push(one);
    const two = await sleepy('two');
    const ran: string[] = [];
    await one.tool('unsafe', () => ran.push('one'), { side_effect_policy: 'irreversible' });
    await two.tool('unsafe', () => ran.push('two'), { side_effect_policy: 'irreversible' });
    await one.workers.start();
    const call = await one.call({ tool_id: 'unsafe', parameters: { n: 1 }, ...LATER });
    await until(() => (asleep ? true : undefined));
    await two.workers.start();
    expect(await over(shared, call)).toMatchObject({ state: 'COMPLETED', fence: 2 });
    woken();
    await until(() => (one.workers.size === 0 ? true : undefined));
    expect(ran).toEqual(['two']);
    expect(await shared.store.findInvocation('acme', call.invocationId)).toMatchObject({ state: 'COMPLETED' });
    const ends = await two.eventsOf(call.invocationId);
    expect(ends.filter(({ type }) => type === 'ai.agent.tool.failed')).toEqual([]);
  });

  test('ORC-01.4 ORC-01.5 a call is cancelled, extended and watched from the instance that does not run it', async () => {
    const one = await sleepy('one');
    const two = await sleepy('two');
    const listening = held();
    await one.tool('long', (_parameters, context) => {
      context.progress({ progress: 1, total: 4, message: 'a quarter' });
      return listening.listening(_parameters, context);
    });
    await one.workers.start();
    await two.workers.start();
    const call = await one.call({ tool_id: 'long', parameters: { n: 1 }, ...LATER });
    await running(listening.runs);
    expect(await until(() => two.workers.progressOf(call))).toEqual({ percent: 25, phase: 'a quarter' });
    const before = one.parts.running.find('acme', call.invocationId)?.toolRun.deadline?.leftMs() ?? 0;
    expect(await two.workers.extend(call, 60_000)).toBe(true);
    await until(() =>
      (one.parts.running.find('acme', call.invocationId)?.toolRun.deadline?.leftMs() ?? 0) > before ? true : undefined,
    );
    expect(await two.workers.cancel(call, 'from elsewhere')).toBe('notified');
    expect(await over(one.shared, call)).toMatchObject({
      state: 'ABORTED',
      failure: { code: 'E3805', message: expect.stringContaining('from elsewhere') },
    });
  });

  test('PIPE-06 a call that somebody waits for in another instance can be cancelled too', async () => {
    const one = await sleepy('one');
    const two = await sleepy('two');
    const listening = held();
    await one.tool('sync', listening.listening, { side_effect_policy: 'irreversible' });
    await one.workers.start();
    await two.workers.start();
    const answer = one.call({ tool_id: 'sync', parameters: { n: 1 } });
    await running(listening.runs);
    const [open] = await two.shared.store.openInvocations('one');
    if (open === undefined) throw new Error('the call is not on record');
    expect(await two.workers.cancel(open, undefined)).toBe('notified');
    expect(await answer).toMatchObject({ state: 'ABORTED' });
  });

  test('ORC-06 what an instance left open that never comes back is settled by another', async () => {
    const one = await sleepy('one');
    const two = await sleepy('two');
    const slow = held();
    await one.tool('sync', slow.deaf, { side_effect_policy: 'irreversible' });
    await one.workers.start();
    const answer = one.call({ tool_id: 'sync', parameters: { n: 1 } });
    await running(slow.runs);
    one.fallAsleep();
    await two.workers.start();
    const [open] = await two.shared.store.openInvocations('one');
    if (open === undefined) throw new Error('the call is not on record');
    expect(await over(two.shared, open)).toMatchObject({ state: 'ABORTED', failure: { code: 'E3804' } });
    slow.end();
    await answer;
    expect(await two.shared.store.findInvocation('acme', open.invocationId)).toMatchObject({
      failure: { code: 'E3804' },
    });
  });

  test('ORC-06 clocks that differ by an hour change nothing: leases go by the clock of the database', async () => {
    const shared = await sharedPostgres();
    const HOUR = 3_600_000;
    const clock = (by: number) => ({ now: () => Date.now() + by, monotonic: () => performance.now() });
    let ran = 0;
    for (const by of [-HOUR, HOUR]) {
      const made = await instance(`off-by-${by}`, shared, {}, { parts: { clock: clock(by) } });
      opened.push(made);
      await made.tool('once', () => (ran += 1), { side_effect_policy: 'irreversible' });
      await made.workers.start();
      const calls = await Promise.all(
        [1, 2, 3].map((n) => made.call({ tool_id: 'once', parameters: { n }, ...LATER })),
      );
      for (const each of calls) expect(await over(shared, each)).toMatchObject({ state: 'COMPLETED' });
    }
    expect(ran).toBe(6);
  });
});
