import { test } from 'vitest';
import { memoryIdempotencyStore } from '../../../../test/stores/calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from '../../../../test/stores/memory-ledger-store.ts';
import { playNames } from './name-model.fixture.ts';

test('PIPE-09 ORC-06 in any order of requests under ids and keys, retries, refusals and kills, on two instances, each name has one call', () =>
  playNames(async () => ({ records: memoryLedgerStore(), idempotency: memoryIdempotencyStore() }), 60));
