import { expect, test } from 'vitest';
import { instance, LATER, over, sharedMemory, until } from './workers.fixture.ts';

test('PIPE-03 ORC-06 what an instance changed that is gone is taken back by another, once its calls are settled', async () => {
  await using opened = new AsyncDisposableStack();
  const shared = sharedMemory();
  let asleep = false;
  const leases: typeof shared.leases = {
    ...shared.leases,
    beat: (...given) => (asleep ? Promise.reject(new Error('asleep')) : shared.leases.beat(...given)),
  };
  const one = await instance('one', { ...shared, leases });
  opened.defer(() => one.close());
  const end = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<string>();
  const unsafe = { side_effect_policy: 'irreversible' } as const;
  await one.tool(
    'deaf',
    async (_given, { invocationId }) => {
      begun.resolve(invocationId);
      await end.promise;
    },
    unsafe,
  );
  const asked: unknown[] = [];
  const two = await instance(
    'two',
    shared,
    {},
    {
      workers: {
        async rollBackFor(instanceId) {
          const record = await shared.store.findInvocation('acme', await begun.promise);
          asked.push([instanceId, record?.state, record?.failure?.code]);
          return 1;
        },
      },
    },
  );
  opened.defer(() => two.close());
  await one.workers.start();
  const answer = one.call({ tool_id: 'deaf', parameters: { n: 1 } });
  await begun.promise;
  asleep = true;
  await two.workers.start();
  expect(await until(() => asked[0])).toEqual(['one', 'ABORTED', 'E3804']);
  end.resolve();
  await answer;
});

test('ORC-06 what an instance leaves when it ends is taken up by another at once, not with its next regular sweep', async () => {
  await using opened = new AsyncDisposableStack();
  const shared = sharedMemory();
  const [one, two] = await Promise.all(
    ['one', 'two'].map((id) => instance(id, shared, { sweepMs: 3_600_000, sweepIdleMs: 3_600_000 })),
  );
  if (one === undefined || two === undefined) throw new Error('there are two');
  for (const each of [one, two]) {
    opened.defer(() => each.close());
    await each.tool('say', () => each.id);
    await each.workers.start();
  }
  const accepted = await one.accept({ tool_id: 'say', parameters: { n: 1 }, ...LATER });
  await one.close();
  expect(await over(shared, accepted)).toMatchObject({ state: 'COMPLETED', result: 'two' });
});
