import { execFileSync } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CliIo } from '../cli-parts.ts';
import { readSource, readTextFile } from './read-source.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-source-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const nothing: CliIo['stdout'] = { write: () => true };
const ioOf = (more: Partial<CliIo> = {}): CliIo => ({
  stdin: (async function* () {})(),
  stdout: nothing,
  stderr: nothing,
  env: {},
  cwd: folder,
  signal: new AbortController().signal,
  ...more,
});

test('API-05 a pipe in place of a file is read to its end, however late its writer comes', async () => {
  const text = readTextFile('pipe', ioOf());
  const writer = await open(join(folder, 'pipe'), 'w');
  await writer.write('of a ');
  await writer.write('writer');
  await writer.close();
  expect(await text).toBe('of a writer');
});

test('API-05 a command that is stopped waits neither for the writer of a pipe nor for standard input', async () => {
  const stopped = new AbortController();
  const { signal } = stopped;
  const never = Promise.withResolvers<never>();
  const stdin = (async function* () {
    yield 'begun';
    await never.promise;
  })();
  const io = ioOf({ signal, stdin });
  const reading = [readTextFile('pipe', io), readSource('-', io)];
  stopped.abort();
  await Promise.all(reading.map((each) => expect(each).rejects.toThrow(/stopped before/)));
  await expect(readTextFile('pipe', io)).rejects.toThrow(/stopped before/);
});

test('API-05 a device that never ends is refused at the bound of a file, and a file is read whole', async () => {
  await expect(readTextFile('/dev/zero', ioOf())).rejects.toThrow(/sends more than \d+ bytes/);
  await writeFile(join(folder, 'file'), 'naïve '.repeat(50_000));
  expect(await readTextFile('file', ioOf())).toBe('naïve '.repeat(50_000));
});
