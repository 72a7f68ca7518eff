import { expect, test } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { atMost } from './at-most.ts';

test('what never ends is waited for no longer than so, and the log says what it was', async () => {
  const told: unknown[] = [];
  const log = { ...silentLog, warn: (event: string, fields?: object) => void told.push([event, fields]) };
  await atMost(new Promise(() => undefined), 'the queue', log, 5);
  expect(told).toEqual([['workers-not-closed', { what: 'the queue', waited_ms: 5 }]]);
  await atMost(Promise.resolve(), 'the sweep', log, 60_000);
  expect(told).toHaveLength(1);
  await expect(atMost(Promise.reject(new Error('away')), 'the beat', log, 60_000)).rejects.toThrow('away');
});
