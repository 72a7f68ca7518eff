import { describe, expect, test } from 'vitest';
import { newFlight } from './flight.ts';
import { RunningCalls } from './running-calls.ts';

const flight = () => newFlight({ request: { tool_id: 't' }, caller: { door: 'library' } }, 0);

describe('the calls under way', () => {
  test('are found by tenant and id, and one id runs once', () => {
    const running = new RunningCalls();
    const one = flight();
    expect(running.add('a', 'id', one)).toBe(true);
    expect(running.add('a', 'id', flight())).toBe(false);
    expect(running.add('b', 'id', flight())).toBe(true);
    expect(running.find('a', 'id')).toBe(one);
    running.remove('a', 'id');
    expect(running.find('a', 'id')).toBeUndefined();
    expect(running.size).toBe(1);
  });

  test('an agent gets as many slots as it may, and each back once', () => {
    const running = new RunningCalls();
    expect([running.takeSlot('x', 2), running.takeSlot('x', 2), running.takeSlot('x', 2)]).toEqual([true, true, false]);
    expect(running.takeSlot('y', 2)).toBe(true);
    running.freeSlot('x');
    expect([running.takeSlot('x', 2), running.takeSlot('x', 2)]).toEqual([true, false]);
  });

  test('OPS-03 draining waits for what runs, and stops it after the grace', async () => {
    const running = new RunningCalls();
    await running.drain(0);
    const slow = flight();
    running.add('a', 'id', slow);
    slow.controller.signal.addEventListener('abort', () => running.remove('a', 'id'));
    await running.drain(5);
    expect(slow.controller.signal.reason).toMatchObject({ code: 'E3811' });
    expect(running.size).toBe(0);
  });
});
