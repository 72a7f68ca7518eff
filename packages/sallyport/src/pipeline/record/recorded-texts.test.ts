import { createRedactor, type Redactor } from '@sallyport/guards';
import { failure as madeFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../audit/ledger.ts';
import { silentLog } from '../../telemetry/log.ts';
import type { OngoingCall } from '../ongoing/ongoing-call.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { withoutSecrets } from './without-secrets.ts';

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

test('AUD-04 what a tool says of its failure is given and recorded without secrets; the words of the layer stay', async () => {
  const secret = `AK${'IA'}${'7QXZ'.repeat(4)}`;
  const { add, call, store } = await pipeline({ redactor: createRedactor() });
  await add(manifest('says'), ({ n }) => {
    throw new ToolLayerError(n === 1 ? 'E3104' : 'E3109', `No such key: ${secret}`, { details: { key: secret } });
  });
  const { invocationId, failure } = await call({ tool_id: 'says', parameters: { n: 2 } });
  expect(failure).toMatchObject({
    code: 'E3109',
    message: 'No such key: [REDACTED:api_key]',
    details: { key: '[REDACTED:api_key]' },
  });
  expect((await store.findInvocation('acme', invocationId))?.failure).toEqual(failure);
  // Before the tool is reached the words are those of the layer.
  const redactor = createRedactor();
  const failed = madeFailure('E3109', secret);
  const after = (attempts: number) => withoutSecrets(redactor, { toolRun: { attempts } } as OngoingCall, failed);
  expect([after(0), after(1).message]).toEqual([failed, '[REDACTED:api_key]']);
  // Why an address or a path is out of bounds is said by the layer alone.
  const outside = await call({ tool_id: 'says', parameters: { n: 1 } });
  expect(outside.failure).toMatchObject({ code: 'E3104', message: `No such key: ${secret}` });
});
