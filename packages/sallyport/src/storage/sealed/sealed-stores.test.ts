import { expect, test } from 'vitest';
import { memoryApprovalStore } from '../../../test/stores/approvals/memory-approval-store.ts';
import { memoryCallLeaseStore } from '../../../test/stores/calls/memory-call-lease-store.ts';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { LedgerStore } from '../../audit/ledger-store.port.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { parametersSeal } from '../../domain/invocation/tasks/sealed-parameters.ts';
import type { WaitingCall } from '../../domain/invocation/waiting-call.ts';
import type { ApprovalClosing, StoredVote } from '../../orchestration/approval-store.port.ts';
import { silentLog } from '../../telemetry/log.ts';
import { withSealedArguments } from './sealed-arguments.ts';
import { withSealedEdits } from './sealed-edits.ts';
import { withSealedLeases } from './sealed-leases.ts';

const SECRET = 'the word of the day';
const [seal, otherSeal] = [0, 1].map((byte) => parametersSeal(new Uint8Array(32).fill(byte))) as [
  ReturnType<typeof parametersSeal>,
  ReturnType<typeof parametersSeal>,
];

/** A log, and the lines of its errors. */
function noting() {
  const lines: string[] = [];
  const error = (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`);
  return { lines, log: { ...silentLog, error } };
}

const GIVEN = {
  request: { tool_id: 'mail', parameters: { word: SECRET } },
  claims: {},
  wait: { for: 'worker', confirmed: false },
  serverTask: { taskId: `${SECRET}, of the task` },
  since: 1,
} as unknown as WaitingCall;

const row = (invocationId: string, waiting: WaitingCall | undefined): InvocationRecord => ({
  invocationId,
  tenantId: 'acme',
  agentDid: 'did:agent:a',
  toolId: 'mail',
  door: 'rest',
  state: 'AUTHORIZED',
  instanceId: 'one',
  warnings: [],
  acceptedAt: 1,
  ...(waiting === undefined ? {} : { waiting }),
});

const ANOTHER = { ...row('another', undefined), acceptedAt: 2 };

const put = (store: LedgerStore, ...records: InvocationRecord[]) =>
  store.append({ records, events: [] }, 'synchronous');

/** Every way to read the calls of a store. */
const readings = async (store: LedgerStore) => ({
  found: await store.findInvocation('acme', 'call').catch(({ code }) => code),
  fenced: await store.fenceInvocation('acme', 'call', 0).catch(({ code }) => code),
  waiting: await store.waitingCalls({ waitsFor: 'worker', limit: 9 }),
  calls: await store.calls({ tenantId: 'acme', limit: 9 }),
  open: await store.openInvocations('one'),
});

test.each<[string, WaitingCall | undefined]>([
  ['with arguments and a task', GIVEN],
  ['with arguments', { ...GIVEN, serverTask: undefined } as never],
  ['with a task', { ...GIVEN, request: { tool_id: 'mail' } } as never],
  ['with neither', { ...GIVEN, request: { tool_id: 'mail' }, serverTask: undefined } as never],
  ['that does not wait', undefined],
])('PIPE-07 a call %s is read as it was written, and what it was given is encrypted in its row', async (_, waiting) => {
  const inner = memoryLedgerStore();
  const store = withSealedArguments(inner, seal, silentLog);
  const given = JSON.parse(JSON.stringify(row('call', waiting)));
  await put(store, given, ANOTHER);
  expect(JSON.stringify(await inner.findInvocation('acme', 'call'))).not.toContain(SECRET);
  const { found, fenced, waiting: waits, calls, open } = await readings(store);
  expect([found, fenced, calls[1], open[0]]).toEqual([given, given, given, given]);
  expect(waits).toEqual(waiting === undefined ? [] : [given]);
  expect(calls[0]).toEqual(ANOTHER);
});

test('PIPE-07 with another key a call is not read, and in lists it does not wait; nobody takes it for one that is over', async () => {
  for (const part of [
    { ...GIVEN, serverTask: undefined },
    { ...GIVEN, request: {} },
  ]) {
    const inner = memoryLedgerStore();
    const waiting = JSON.parse(JSON.stringify(part));
    await put(withSealedArguments(inner, seal, silentLog), row('call', waiting), ANOTHER);
    const { lines, log } = noting();
    const read = await readings(withSealedArguments(inner, otherSeal, log));
    expect([read.found, read.fenced]).toEqual(['E3812', 'E3812']);
    expect(read.waiting).toEqual([row('call', undefined)]);
    expect(read.calls).toEqual([ANOTHER, row('call', undefined)]);
    expect(read.open).toEqual([ANOTHER]);
    expect(lines).toEqual(Array(3).fill('waiting-arguments-unreadable {"invocation_id":"call"}'));
  }
});

test('PIPE-07 what a call was given opens in its own row and place alone', async () => {
  const inner = memoryLedgerStore();
  const store = withSealedArguments(inner, seal, silentLog);
  await put(store, row('call', GIVEN));
  const { waiting } = (await inner.findInvocation('acme', 'call')) as { waiting: WaitingCall };
  const { request, serverTask } = waiting;
  const found = (id: string) => store.findInvocation('acme', id).catch(({ code }) => code);
  await put(inner, row('moved', { ...waiting, serverTask: undefined } as never));
  await put(inner, row('task', { ...waiting, request: {} } as never));
  await put(
    inner,
    row('call', {
      ...waiting,
      request: { ...request, parameters: serverTask as never },
      serverTask: undefined,
    } as never),
  );
  // What earlier versions stored opens with these words.
  expect(seal.open(request.parameters ?? {}, ['acme', 'call', 'parameters'])).toEqual({ word: SECRET });
  expect(seal.open({ ...serverTask }, ['acme', 'call', 'server task'])).toEqual(GIVEN.serverTask);
  expect([await found('moved'), await found('task'), await found('call')]).toEqual(['E3812', 'E3812', 'E3812']);
  await put(inner, row('call', { ...waiting, serverTask: request.parameters as never }));
  expect(await found('call')).toBe('E3812');
});

const vote = { tenantId: 'acme', approvalId: 'ap', approver: 'ann', votedAt: 1 } as StoredVote;
const closing = { tenantId: 'acme', approvalId: 'ap', invocationId: 'call', closedAt: 1 } as ApprovalClosing;
const parameters = { word: SECRET };

test('PIPE-07 ORC-03 what an approver edited is encrypted, and is read with its key alone', async () => {
  const inner = memoryApprovalStore();
  const store = withSealedEdits(inner, seal, silentLog);
  expect(await store.vote({ ...vote, parameters })).toEqual([{ ...vote, parameters }]);
  expect(await store.close({ ...closing, parameters })).toBe(true);
  const held = { ...closing, parameters, noted: false, finished: false };
  expect(JSON.stringify([await inner.votes('acme', 'ap'), await inner.closing('acme', 'ap')])).not.toContain(SECRET);
  expect(await store.votes('acme', 'ap')).toEqual([{ ...vote, parameters }]);
  expect(await store.closing('acme', 'ap')).toEqual(held);
  expect(await store.closings('acme', 9, 0)).toEqual([held]);
  expect(await store.unfinished(9, 1)).toEqual([held]);

  const { lines, log } = noting();
  const other = withSealedEdits(inner, otherSeal, log);
  const refused = { code: 'E3812' };
  await expect(other.votes('acme', 'ap')).rejects.toMatchObject(refused);
  await expect(other.vote({ ...vote, approver: 'bob' })).rejects.toMatchObject(refused);
  await expect(other.closing('acme', 'ap')).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining('call'),
  });
  const { parameters: _hidden, ...shown } = held;
  expect(await other.closings('acme', 9, 0)).toEqual([shown]);
  expect(await other.unfinished(9, 1)).toEqual([]);
  expect(lines).toEqual(Array(2).fill('edited-arguments-unreadable {"approval_id":"ap"}'));
});

test('PIPE-07 ORC-03 what was approved as it is stays as it is, and an edit cannot be moved to another approval', async () => {
  const inner = memoryApprovalStore();
  const store = withSealedEdits(inner, seal, silentLog);
  expect(await store.vote(vote)).toEqual([vote]);
  await store.close(closing);
  expect(await store.closing('acme', 'ap')).toEqual({ ...closing, noted: false, finished: false });
  expect(await store.closing('acme', 'unknown')).toBeUndefined();
  await store.close({ ...closing, approvalId: 'edited', parameters });
  const { parameters: sealed } = (await inner.closing('acme', 'edited')) as ApprovalClosing;
  expect(seal.open(sealed ?? {}, ['acme', 'edited', 'edit'])).toEqual(parameters);
  await inner.close({ ...closing, approvalId: 'moved', parameters: sealed as never });
  await expect(store.closing('acme', 'moved')).rejects.toMatchObject({ code: 'E3812' });
});

test('PIPE-07 questions of a running call and their answers are encrypted, and open for their call and key alone', async () => {
  const ledger = memoryLedgerStore();
  const inner = memoryCallLeaseStore(ledger);
  const [store, other] = [withSealedLeases(inner, seal), withSealedLeases(inner, otherSeal)];
  const [call, second] = ['call', 'second'].map((invocationId) => ({ tenantId: 'acme', invocationId }));
  const holder = { instanceId: 'one', owner: 'life' };
  if (call === undefined || second === undefined) throw new Error('unreachable');
  for (const each of [call, second]) await store.take(each, holder, 60_000);
  const questions = { first: { method: 'elicitation/create', params: { message: SECRET } } };
  await store.beat(holder, 60_000, [{ ...call, progress: { percent: 5, questions } }, second]);
  const stored = (await inner.find(call))?.progress;
  expect(JSON.stringify(stored)).not.toContain(SECRET);
  expect((await store.find(call))?.progress).toEqual({ percent: 5, questions });
  expect((await other.find(call))?.progress).toEqual({ percent: 5, questions: {} });
  expect(await store.find(second)).not.toHaveProperty('progress');
  expect(await store.find({ tenantId: 'acme', invocationId: 'unknown' })).toBeUndefined();

  expect(await store.notifyHolder(call, { answers: { first: SECRET } })).toBe(true);
  expect(await store.notifyHolder(second, { extendMs: 7 })).toBe(true);
  const beat = async (from: typeof store, ...attended: Parameters<typeof store.beat>[2]) =>
    (await from.beat(holder, 60_000, attended)).held.map(({ answers, extendedMs }) => answers ?? extendedMs);
  expect(JSON.stringify(await beat(inner, call))).not.toContain(SECRET);
  expect(await beat(store, call, second)).toEqual([{ first: SECRET }, 7]);
  expect(await beat(other, call)).toEqual([{}]);

  const moved = stored?.questions ?? {};
  const place = ['acme', 'call', 'question', 'first'];
  expect(seal.open({ ...moved['first'] }, place)).toEqual({ value: questions.first });
  await beat(
    inner,
    { ...second, progress: { questions: moved } },
    { ...call, progress: { questions: { x: moved['first'] as never } } },
  );
  expect((await store.find(second))?.progress).toEqual({ questions: {} });
  expect((await store.find(call))?.progress).toEqual({ questions: {} });
  await beat(store, { ...call, progress: { percent: 9 } });
  expect((await store.find(call))?.progress).toEqual({ percent: 9 });
});
