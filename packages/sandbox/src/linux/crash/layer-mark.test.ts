import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { isDead, ownMark, startOf } from './layer-mark.ts';

test('a process that lives is not dead, one with its number from before is', () => {
  const [namespace, pid, start] = ownMark().split('-');
  expect(start).toBe(startOf(process.pid));
  expect(isDead(ownMark())).toBe(false);
  expect(isDead(`${namespace}-${pid}-${Number(start) - 1}`)).toBe(true);
});

test('a process that has ended is dead', async () => {
  const child = spawn('true', { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const mark = `${ownMark().split('-')[0]}-${pid}-${startOf(pid)}`;
  await once(child, 'exit');
  expect(startOf(pid)).toBeUndefined();
  expect(isDead(mark)).toBe(true);
});

test('of another pid namespace nothing is dead', () => {
  expect(isDead('1-4194305-7')).toBe(false);
  expect(isDead('0-4194305-7')).toBe(false);
});
