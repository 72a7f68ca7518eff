import { describe, expect, test } from 'vitest';
import { newOngoingCall } from './ongoing-call.ts';
import { RunningCalls } from './running-calls.ts';

const ongoing = () => newOngoingCall({ request: { tool_id: 't' }, caller: { door: 'library' } }, 0);

describe('the calls under way', () => {
  test('are found by tenant and id, and one id runs once', () => {
    const running = new RunningCalls();
    const one = ongoing();
    expect(running.add('a', 'id', one)).toBe(true);
    expect(running.add('a', 'id', ongoing())).toBe(false);
    expect(running.add('b', 'id', ongoing())).toBe(true);
    expect(running.find('a', 'id')).toBe(one);
    running.remove('a', 'id');
    expect(running.find('a', 'id')).toBeUndefined();
    expect(running.size).toBe(1);
  });

  test('OPS-03 draining waits for what runs, and stops it after the grace', async () => {
    const running = new RunningCalls();
    await running.drain(0);
    const slow = ongoing();
    running.add('a', 'id', slow);
    slow.controller.signal.addEventListener('abort', () => running.remove('a', 'id'));
    await running.drain(5);
    expect(slow.controller.signal.reason).toMatchObject({ code: 'E3811' });
    expect(running.size).toBe(0);
  });

  test('OPS-03 PIPE-08 draining ends at once what waits for a slot, and lets what runs end', async () => {
    const running = new RunningCalls();
    running.add('a', 'runs', ongoing());
    running.slots.take('x', 1);
    const wait = { waitingMax: 9, allWaitingMax: 9, ms: 60_000, signal: new AbortController().signal };
    const waiting = running.slots.wait('x', 1, wait);
    expect(running.sizeWithoutWaiting).toBe(0);
    const drained = running.drain(60_000);
    await expect(waiting).rejects.toMatchObject({ code: 'E3811' });
    await expect(running.slots.wait('x', 1, wait)).rejects.toMatchObject({ code: 'E3811' });
    running.remove('a', 'runs');
    await drained;
  });
});
