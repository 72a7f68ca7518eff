import { createRedactor, type Redactor } from '@sallyport/guards';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import { silentLog } from '../../telemetry/log.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

test('what a call that repeats another one writes is not looked at again', async () => {
  const redactor = createRedactor();
  let looks = 0;
  const counting: Redactor = {
    ...redactor,
    value(value) {
      looks += 1;
      return redactor.value(value);
    },
  };
  const store = memoryLedgerStore();
  const ledger = await openLedger({ store, chainId: 'one', log: silentLog, redactor: counting });
  const { add, call } = await pipeline({ store, ledger });
  await add(manifest('double'), ({ n }) => Number(n) * 2);
  await call({ tool_id: 'double', parameters: { n: 1 } });
  expect(looks).toBeGreaterThan(0);
  looks = 0;
  await call({ tool_id: 'double', parameters: { n: 2 } });
  expect(looks).toBe(0);
});

test('AUD-04 an unknown tool is on record by what is left of its name', async () => {
  const { call, eventsOf, store } = await pipeline();
  const name = `AK${'IA'}${'7QXZ'.repeat(4)}`;
  const { invocationId } = await call({ tool_id: name, parameters: {} });
  expect((await eventsOf(invocationId)).map(({ data }) => data['tool_id'])).toContain('[REDACTED:api_key]');
  expect(await store.findInvocation('acme', invocationId)).toMatchObject({ toolId: '[REDACTED:api_key]' });
});
