import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../storage/memory/memory-ledger-store.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

const KEYED = { execution_options: { idempotency_key: 'k' } };

async function shop() {
  const store = memoryLedgerStore();
  const made = await pipeline({ store });
  const { promise: gate, resolve: end } = Promise.withResolvers<string>();
  await made.add(manifest('pay', { side_effect_policy: 'irreversible' }), ({ n }) => (n === 0 ? gate : `paid ${n}`));
  const pay = (n: number | string, more: object = {}) => made.call({ tool_id: 'pay', parameters: { n }, ...more });
  const row = (id: string) => store.findInvocation('acme', id);
  return { ...made, pay, row, end };
}

test('PIPE-07 a call that is refused is on record under the id that its caller chose, where that is free', async () => {
  const { pay, call, row } = await shop();
  await pay(1, KEYED);
  const refused = [
    await call({ tool_id: 'nothing', invocation_id: 'unknown-tool' }),
    await pay('no number', { invocation_id: 'bad-arguments' }),
    await pay(2, { invocation_id: 'other-arguments', ...KEYED }),
  ];
  expect(refused.map(({ invocationId, failure }) => [invocationId, failure?.code])).toEqual([
    ['unknown-tool', 'E3001'],
    ['bad-arguments', expect.stringMatching(/^E35/)],
    ['other-arguments', 'E3802'],
  ]);
  for (const { invocationId, failure } of refused) expect(await row(invocationId)).toMatchObject({ failure });
});

test('PIPE-07 PRM-10 no request writes over the row of another call, however it ends', async () => {
  const { pay, call, row, end } = await shop();
  await pay(1, KEYED);
  const running = pay(0, { invocation_id: 'taken' });
  const others = async () => [
    await pay(2, { invocation_id: 'taken' }),
    await call({ tool_id: 'nothing', invocation_id: 'taken' }),
    await pay('no number', { invocation_id: 'taken' }),
    await pay(1, { invocation_id: 'taken', ...KEYED }),
  ];
  const during = await others();
  end('done');
  const first = await running;
  expect(first).toMatchObject({ invocationId: 'taken', state: 'COMPLETED', result: 'done' });
  for (const other of [...during, ...(await others())]) {
    expect(other.invocationId).not.toBe('taken');
    expect(await row('taken')).toMatchObject({ state: 'COMPLETED', result: 'done' });
  }
});
