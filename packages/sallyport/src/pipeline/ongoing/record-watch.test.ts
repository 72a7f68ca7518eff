import { expect, test } from 'vitest';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { newOngoingCall } from './ongoing-call.ts';
import { RunningCalls } from './running-calls.ts';

const NEVER_MS = 1_000_000;
const RECORD: InvocationRecord = {
  invocationId: 'id',
  tenantId: 'a',
  agentDid: 'did:agent:a',
  toolId: 't',
  door: 'library',
  state: 'COMPLETED',
  instanceId: 'one',
  warnings: [],
  acceptedAt: 0,
};

const PASS = newOngoingCall({ request: { tool_id: 't' }, caller: { door: 'library' } }, 0, false);

test('whoever watches a call hears that it is on record, and nobody else does', async () => {
  const running = new RunningCalls();
  using mine = running.watch('a', 'id');
  using ofOtherCall = running.watch('a', 'other');
  using ofOtherTenant = running.watch('b', 'id');
  const heard: string[] = [];
  const listen = (name: string, watch: typeof mine, signal?: AbortSignal): Promise<number> =>
    watch.next(NEVER_MS, signal).then(() => heard.push(name));
  const first = listen('mine', mine);
  const ending = new AbortController();
  const others = [
    listen('other call', ofOtherCall, ending.signal),
    listen('other tenant', ofOtherTenant, ending.signal),
  ];
  running.noteOnRecord(RECORD, PASS);
  await first;
  expect(heard).toEqual(['mine']);
  ending.abort();
  await Promise.all(others);
});

test('what happens between two waits is not missed, and is told once', async () => {
  const running = new RunningCalls();
  using watch = running.watch('a', 'id');
  running.noteOnRecord(RECORD, PASS);
  await watch.next(NEVER_MS);
  let isToldAgain = false;
  const ending = new AbortController();
  const second = watch.next(NEVER_MS, ending.signal).then(() => {
    isToldAgain = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isToldAgain).toBe(false);
  ending.abort();
  await second;
});

test('a wait ends with its time or its signal, and a watch that is over hears nothing', async () => {
  const running = new RunningCalls();
  const watch = running.watch('a', 'id');
  await watch.next(1);
  await watch.next(NEVER_MS, AbortSignal.abort());
  watch[Symbol.dispose]();
  running.noteOnRecord(RECORD, PASS);
  await watch.next(1);
});

test('listeners are notified of every record, before whoever watches the call', async () => {
  const running = new RunningCalls();
  const heard: unknown[] = [];
  running.onRecord((record, hasWaited) => heard.push([record, hasWaited]));
  using watch = running.watch('a', 'id');
  const watched = watch.next(NEVER_MS).then(() => heard.push('watch'));
  running.noteOnRecord(RECORD, PASS);
  await watched;
  expect(heard).toEqual([[RECORD, false], 'watch']);
});
