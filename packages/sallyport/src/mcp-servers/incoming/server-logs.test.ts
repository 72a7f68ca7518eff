import { expect, test } from 'vitest';
import type { LogLevel, LogMessage } from '../../domain/invocation/log-message.ts';
import type { Asker } from './asker.ts';
import { createEndedOwners } from './ended-owners.ts';
import { giveLog, levelToSet, logMessageIn } from './server-logs.ts';

const ERROR: LogMessage = { level: 'error', data: 'x' };

/** A call of somebody, and the messages that it got. */
function callOf(owner: string | undefined, level?: LogLevel) {
  const got: unknown[] = [];
  const asker: Asker = {
    ...{ invocationId: 'i', client: undefined, owner },
    logs: { level, take: ({ data }) => void got.push(data) },
  };
  return { asker, got };
}

test('EXE-07.14 a log message without a call’s stream goes to the newest call, while all are of one agent and user', () => {
  const [older, newest, other, gone] = [callOf('a'), callOf('a'), callOf('b'), callOf('b')];
  giveLog(ERROR, { running: [older.asker, newest.asker], gone: [], ended: [] });
  expect([older.got, newest.got]).toEqual([[], ['x']]);
  giveLog(ERROR, { running: [newest.asker, other.asker], gone: [], ended: [] });
  giveLog(ERROR, { running: [newest.asker], gone: [gone.asker], ended: [] });
  expect([newest.got, other.got, gone.got]).toEqual([['x'], [], []]);
});

test('EXE-07.14 owners that are not known are not taken for one', () => {
  const [one, two] = [callOf(undefined), callOf(undefined)];
  giveLog(ERROR, { running: [one.asker, two.asker], gone: [], ended: [] });
  expect([one.got, two.got]).toEqual([[], []]);
  giveLog(ERROR, { running: [one.asker], gone: [], ended: [] });
  expect(one.got).toEqual(['x']);
});

test('EXE-07.14 a message below the level that its client states is dropped; without one, below info', () => {
  const [stated, silent] = [callOf('a', 'critical'), callOf('a')];
  for (const { asker } of [stated, silent])
    for (const level of ['debug', 'info', 'critical'] as const)
      giveLog({ level, data: level }, { running: [asker], gone: [], ended: [] });
  expect([stated.got, silent.got]).toEqual([['critical'], ['info', 'critical']]);
});

test('a listener that fails, and a message while no call runs, disturb nothing', () => {
  const failing: Asker = {
    ...{ invocationId: 'i', client: undefined },
    logs: {
      level: 'debug',
      take: () => {
        throw new Error('no');
      },
    },
  };
  giveLog(ERROR, { running: [failing], gone: [], ended: [] });
  giveLog(ERROR, { running: [], gone: [failing], ended: [] });
  giveLog(ERROR, { running: [], gone: [], ended: [] });
});

test('EXE-07.16 PRM-11.5 what comes soon after calls is for their owner alone, and for nobody when there were several', () => {
  const after = (ended: (string | undefined)[]) => giveLog(ERROR, { running: [], gone: [], ended });
  expect(after([])).toEqual({});
  expect(after(['a'])).toEqual({ owner: 'a' });
  expect(after(['a', 'b'])).toBeUndefined();
  expect(after([undefined])).toBeUndefined();
  const owners = createEndedOwners();
  for (const [owner, at] of [
    ['a', 1],
    ['b', 2],
    ['b', 4],
  ] as const)
    owners.note(owner, at);
  expect([1, 2, 4, 5].map((at) => owners.since(at))).toEqual([['b', 'a'], ['b'], ['b'], []]);
});

test.each<[unknown, unknown]>([
  [undefined, undefined],
  ['text', undefined],
  [{ level: 'loud', data: 1 }, undefined],
  [{ level: 'info' }, { level: 'info', data: null }],
  [
    { level: 'info', data: 1, logger: 7, _meta: { x: 1 } },
    { level: 'info', data: 1 },
  ],
  [
    { level: 'info', data: 1, logger: 'l'.repeat(300) },
    { level: 'info', data: 1, logger: 'l'.repeat(200) },
  ],
])('of %j the members of a log message are taken', (params, message) => {
  expect(logMessageIn(params)).toEqual(message);
});

test.each<[LogLevel | undefined, LogLevel | undefined, LogLevel | undefined]>([
  [undefined, undefined, undefined],
  ['info', undefined, 'info'],
  ['info', 'info', undefined],
  ['error', 'info', undefined],
  ['debug', 'info', 'debug'],
])('EXE-07.14 for a client that wants %s, a server at %s is set to %s', (wanted, current, set) => {
  const { asker } = callOf('a', wanted);
  expect(levelToSet(asker.logs, current)).toBe(set);
});
