import { describe, expect, test } from 'vitest';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { mayHaveRow, newOngoingCall } from './ongoing-call.ts';
import { RunningCalls } from './running-calls.ts';

const ongoing = () => newOngoingCall({ request: { tool_id: 't' }, caller: { door: 'library' } }, 0, false);

describe('the calls under way', () => {
  test('are found by tenant and id, and one id runs once', () => {
    const running = new RunningCalls();
    const one = ongoing();
    expect(running.add('a', 'id', one)).toBe(true);
    expect(running.add('a', 'id', ongoing())).toBe(false);
    expect(running.add('b', 'id', ongoing())).toBe(true);
    expect(running.find('a', 'id')).toBe(one);
    running.remove(one);
    running.remove(one);
    expect(running.find('a', 'id')).toBeUndefined();
    expect(running.size).toBe(1);
  });

  test('OPS-03 draining waits for what runs, and stops it after the grace', async () => {
    const running = new RunningCalls();
    await running.drain(0);
    const slow = ongoing();
    running.add('a', 'id', slow);
    slow.controller.signal.addEventListener('abort', () => running.remove(slow));
    await running.drain(5);
    expect(slow.controller.signal.reason).toMatchObject({ code: 'E3811' });
    expect(running.size).toBe(0);
  });

  test('OPS-03 PIPE-08 draining ends at once what waits for a slot, and lets what runs end', async () => {
    const running = new RunningCalls();
    const runs = ongoing();
    running.add('a', 'runs', runs);
    running.slots.take('x', 1);
    const wait = { waitingMax: 9, allWaitingMax: 9, ms: 60_000, signal: new AbortController().signal };
    const waiting = running.slots.wait('x', 1, wait);
    expect(running.sizeWithoutWaiting).toBe(0);
    const drained = running.drain(60_000);
    await expect(waiting).rejects.toMatchObject({ code: 'E3811' });
    await expect(running.slots.wait('x', 1, wait)).rejects.toMatchObject({ code: 'E3811' });
    running.remove(runs);
    await drained;
  });

  test('PIPE-06 a cancelled one ends with the reason that was given, and who ends waiting calls learns of it', () => {
    const running = new RunningCalls();
    const record = { tenantId: 'a', invocationId: 'id' } as InvocationRecord;
    const ended: unknown[] = [];
    const [reasoned, silent, empty, other] = [ongoing(), ongoing(), ongoing(), ongoing()];
    running.cancel(reasoned, 'enough');
    running.noteOnRecord(record, reasoned);
    running.onCancelled((...given) => void ended.push(given));
    running.cancel(silent, undefined);
    running.cancel(empty, '');
    for (const each of [reasoned, silent, other]) running.noteOnRecord(record, each);
    expect(ended).toEqual([
      [record, 'enough'],
      [record, undefined],
    ]);
    expect(
      [reasoned, silent, empty].map(({ controller: { signal } }) => [signal.reason.code, signal.reason.message]),
    ).toEqual([
      ['E3805', 'The call was cancelled. Reason given: enough'],
      ['E3805', 'The call was cancelled.'],
      ['E3805', 'The call was cancelled.'],
    ]);
    expect(other.controller.signal.aborted).toBe(false);
  });

  test('are known under the id that their caller chose, once it is established', () => {
    const running = new RunningCalls();
    const one = ongoing();
    running.add('a', 'nonce', one);
    running.rename(one, 'a', 'nonce');
    expect(running.find('a', 'nonce')).toBe(one);
    running.rename(one, 'a', 'id');
    expect([running.find('a', 'nonce'), running.find('a', 'id'), running.size]).toEqual([undefined, one, 1]);
    expect(running.find('a', 'other')).toBeUndefined();
  });

  test('end when their token was revoked, and no other ends', () => {
    const running = new RunningCalls();
    const [revoked, kept, unknown, over] = [ongoing(), ongoing(), ongoing(), ongoing()];
    const claimed: [ReturnType<typeof ongoing>, string][] = [
      [revoked, 'revoked'],
      [kept, 'kept'],
      [over, 'revoked'],
    ];
    for (const [each, jti] of claimed) Object.assign(each.call, { claims: { jti } as CapabilityClaims });
    over.controller.abort('before');
    for (const [at, each] of [revoked, kept, unknown, over].entries()) running.add('a', String(at), each);
    running.stopRevoked(({ jti }) => jti === 'revoked');
    expect(revoked.controller.signal.reason).toMatchObject({
      code: 'E3805',
      failure: { details: { cancelled_by: 'revocation' } },
    });
    expect([kept, unknown].map(({ controller }) => controller.signal.aborted)).toEqual([false, false]);
    expect(over.controller.signal.reason).toBe('before');
  });

  test('are watched under their tenant and id until the last watch is over', () => {
    const running = new RunningCalls();
    const record = { tenantId: 'a', invocationId: 'id' } as InvocationRecord;
    const [first, second] = [running.watch('a', 'id'), running.watch('a', 'id')];
    let noted = 0;
    second.note = () => {
      noted += 1;
    };
    first[Symbol.dispose]();
    running.noteOnRecord(record, ongoing());
    expect(noted).toBe(1);
    second[Symbol.dispose]();
    running.noteOnRecord(record, ongoing());
    expect(noted).toBe(1);
  });
});

describe('a call under way', () => {
  const waiting = { request: { tool_id: 't' }, since: 5, compensates: 'c' };
  const resumed = { invocationId: 'id', nonce: 'n', acceptedAt: 3, waiting } as unknown as NonNullable<
    Parameters<typeof newOngoingCall>[3]
  >;
  const request = { request: { tool_id: 't' }, caller: { door: 'library' as const } };

  test('PIPE-01 that waited has its nonce, what it takes back and the states that are on record', () => {
    const again = newOngoingCall(request, 0, false, resumed);
    expect([again.nonce, again.call.compensates, again.rehearsal]).toEqual(['n', 'c', false]);
    const states = [
      { state: 'DECLARED', at: 3 },
      { state: 'VALIDATED', at: 3 },
      { state: 'AUTHORIZED', at: 5 },
    ];
    expect(again.transitions).toEqual(states);
    const cutOff = newOngoingCall(request, 0, false, { ...resumed, cutOff: true });
    expect(cutOff.transitions).toEqual([...states, { state: 'EXECUTING', at: 5 }]);
  });

  test('PIPE-01 that is new has a nonce of its own, no state and no row until it runs', () => {
    const [one, other] = [newOngoingCall(request, 7, false), newOngoingCall(request, 7, true)];
    expect(one.nonce).not.toBe(other.nonce);
    expect([one.transitions, one.startedAt, one.rehearsal, other.rehearsal, one.traceId]).toEqual([
      [],
      7,
      false,
      true,
      undefined,
    ]);
    expect([mayHaveRow(one), mayHaveRow(newOngoingCall(request, 0, false, resumed))]).toEqual([false, true]);
    one.transitions.push({ state: 'DECLARED', at: 1 });
    expect(mayHaveRow(one)).toBe(false);
    one.transitions.push({ state: 'EXECUTING', at: 2 });
    expect(mayHaveRow(one)).toBe(true);
  });

  test('PIPE-11 STA-01 names its newest 100 checkpoints, oldest first', () => {
    const { toolRun } = ongoing();
    expect([toolRun.checkpoints, toolRun.facts, toolRun.warnings, toolRun.openQuestions]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    for (let at = 0; at <= 100; at += 1) toolRun.noteCheckpoint({ checkpointId: String(at) } as never);
    expect([toolRun.checkpoints?.length, toolRun.checkpoints?.[0]]).toEqual([100, { checkpointId: '1' }]);
  });
});

describe('the questions of a call to its client', () => {
  const asked = { kind: 'roots' } as never;
  const never = new AbortController().signal;

  test('are answered by their keys, each once, and others change nothing', async () => {
    const { toolRun } = ongoing();
    const { questions } = toolRun;
    expect([questions.wasAsked, toolRun.openQuestions]).toEqual([false, undefined]);
    const [first, second] = [questions.ask(asked, never), questions.ask(asked, never)];
    const [key = '', other = ''] = Object.keys(toolRun.openQuestions ?? {});
    expect(toolRun.openQuestions).toEqual({ [key]: asked, [other]: asked });
    questions.answer({ [key]: 1, unknown: 2 });
    expect([await first, Object.keys(questions.open)]).toEqual([1, [other]]);
    questions.answer({ [key]: 3, [other]: 4 });
    expect([await second, toolRun.openQuestions]).toEqual([4, {}]);
  });

  test('are 16 at most, and end with their signal', async () => {
    const { questions } = ongoing().toolRun;
    const over = new AbortController();
    const all = Array.from({ length: 16 }, () => questions.ask(asked, over.signal));
    await expect(questions.ask(asked, never)).rejects.toThrow('16 questions');
    const ends = Promise.allSettled(all);
    over.abort();
    expect((await ends).map(({ status }) => status)).toEqual(all.map(() => 'rejected'));
    expect(questions.open).toEqual({});
    await expect(questions.ask(asked, over.signal)).rejects.toThrow('over');
    expect(questions.open).toEqual({});
  });
});
