import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { clearLeftovers, MARK_VARIABLE } from './clear-leftovers.ts';
import { ownMark } from './layer-mark.ts';

const [namespace, pid, start] = ownMark().split('-');
const DEAD = `${namespace}-${pid}-1`;
const ALIVE = `${namespace}-${pid}-${start}`;
const ELSEWHERE = `1-${pid}-1`;

const started: ChildProcess[] = [];
const temporary = mkdtempSync(join(tmpdir(), 'leftovers-'));
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(temporary, { recursive: true, force: true });
});

/** Starts a process with the command line of a layer's sandbox. */
const sandboxOf = async (...mark: string[]): Promise<ChildProcess> => {
  const child = spawn('/bin/sh', ['-c', 'echo ready; read forever', 'sh', '--setenv', ...mark, '--hostname'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  started.push(child);
  await once(child.stdout, 'data');
  return child;
};

test('SBX-08 sandboxes and temporary folders of a dead layer are removed, and nothing of a living one', async () => {
  const [dead, alive, elsewhere, spoken] = await Promise.all([
    sandboxOf(MARK_VARIABLE, DEAD),
    sandboxOf(MARK_VARIABLE, ALIVE),
    sandboxOf(MARK_VARIABLE, ELSEWHERE),
    sandboxOf(`${MARK_VARIABLE} ${DEAD}`),
  ]);
  for (const mark of [DEAD, ALIVE, ELSEWHERE]) mkdirSync(join(temporary, `sallyport-sandbox-${mark}-x`));
  mkdirSync(join(temporary, 'sallyport-sandbox-x'));
  const ended = once(dead, 'exit');
  await clearLeftovers(undefined, temporary);
  expect((await ended)[1]).toBe('SIGKILL');
  expect([alive, elsewhere, spoken].map(({ signalCode }) => signalCode)).toEqual([null, null, null]);
  expect(readdirSync(temporary).sort()).toEqual(
    [`sallyport-sandbox-${ELSEWHERE}-x`, `sallyport-sandbox-${ALIVE}-x`, 'sallyport-sandbox-x'].sort(),
  );
});

test('a temporary folder that is not there is no fault', async () => {
  await expect(clearLeftovers(undefined, join(temporary, 'missing'))).resolves.toBeUndefined();
});
