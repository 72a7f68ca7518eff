import { test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { openLedger } from '../../../audit/ledger.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { playKeys } from './key-model.fixture.ts';

test('PIPE-09.1 PIPE-09.2 in any order of calls under keys, alone and together, on two instances and across restarts, each key has one answer', () =>
  playKeys(async () => {
    const records = memoryLedgerStore();
    const idempotency = memoryIdempotencyStore();
    return {
      async open(instanceId) {
        const ledger = await openLedger({ store: records, chainId: instanceId, log: silentLog });
        return { parts: { records, idempotency, ledger }, close: () => ledger.close() };
      },
    };
  }, 25));
