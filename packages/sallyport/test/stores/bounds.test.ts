import type { Clock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { type ChainedEvent, chainedEventOf } from '../../src/domain/event/chained-event.ts';
import { memoryIdempotencyStore } from './calls/memory-idempotency-store.ts';
import { memoryLedgerStore } from './memory-ledger-store.ts';

function turnedClock(): Clock & { at: number } {
  const clock = { at: 1_000, now: () => clock.at, monotonic: () => clock.at };
  return clock;
}

test('a ledger takes its last event and refuses the next batch whole', async () => {
  const ledger = memoryLedgerStore({ eventsMax: 2 });
  await ledger.append({ records: [], events: [event(1)] }, 'synchronous');
  await expect(ledger.append({ records: [], events: [event(2), event(3)] }, 'synchronous')).rejects.toMatchObject({
    code: 'E3812',
  });
  await ledger.append({ records: [], events: [event(2)] }, 'synchronous');
  expect((await ledger.chainHead('chain-1'))?.seq).toBe(2);
});

test('a full store of claims refuses a new key until an old one expires, and still answers the keys it holds', async () => {
  const clock = turnedClock();
  const store = memoryIdempotencyStore({ clock, claimsMax: 2 });
  const claim = (key: string) =>
    store.claim({ tenantId: 'acme', key, requestHash: 'hash', nonce: key, invocationId: key }, 100);
  const first = await claim('one');
  await claim('two');
  await expect(claim('three')).rejects.toMatchObject({ code: 'E3812' });
  expect(await claim('one')).toEqual(first);
  clock.at += 101;
  expect((await claim('three')).invocationId).toBe('three');
});

function event(seq: number): ChainedEvent {
  return chainedEventOf({
    specversion: '1.0',
    id: `event-${seq}`,
    source: '/sallyport/instance-1',
    type: 'ai.agent.tool.invoked',
    time: '2026-01-02T03:04:05.678Z',
    datacontenttype: 'application/json',
    tenantid: 'acme',
    chainid: 'chain-1',
    chainseq: seq,
    chainprev: `hash-${seq - 1}`,
    chainhash: `hash-${seq}`,
    data: {},
  });
}
