import { PassThrough, Readable, Writable } from 'node:stream';
import { KiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { collectOutput, type OutputBounds } from './collect-output.ts';
import type { SandboxProcess } from './driver.port.ts';

const BOUNDS: OutputBounds = { stdoutBytesMax: 8, stderrBytesMax: 8 };

/** A process that consists of its output only. */
function wrote(stdout: Iterable<Buffer>, stderr: Iterable<Buffer> = []): SandboxProcess & { kills(): number } {
  let kills = 0;
  return {
    stdin: new Writable(),
    stdout: Readable.from(stdout, { objectMode: false }),
    stderr: Readable.from(stderr, { objectMode: false }),
    exited: Promise.resolve({ code: 0, cpuMs: 0, memoryPeakMb: 0 }),
    kill: () => {
      kills += 1;
    },
    kills: () => kills,
    async [Symbol.asyncDispose]() {},
  };
}

test('output up to the bound is whole, one byte more is cut', async () => {
  expect(await collectOutput(wrote([Buffer.from('12345678')]), BOUNDS)).toEqual({
    stdout: '12345678',
    stderr: '',
    truncated: false,
    flooded: false,
  });
  expect(await collectOutput(wrote([Buffer.from('1234'), Buffer.from('56789')]), BOUNDS)).toMatchObject({
    stdout: '12345678',
    truncated: true,
  });
  expect(await collectOutput(wrote([], [Buffer.from('123456789')]), BOUNDS)).toMatchObject({
    stderr: '23456789',
    truncated: true,
  });
});

test('a character that comes in two parts is whole, one that the bound cuts is left out', async () => {
  const euro = Buffer.from('€');
  const parts = [euro.subarray(0, 1), euro.subarray(1), Buffer.from('!')];
  expect(await collectOutput(wrote(parts), BOUNDS)).toMatchObject({ stdout: '€!', truncated: false });
  expect(await collectOutput(wrote([Buffer.from('1234567€')]), BOUNDS)).toMatchObject({
    stdout: '1234567',
    truncated: true,
  });
});

test('of stderr the end is kept, from where a line begins, or else a character', async () => {
  const stderr = async (...parts: readonly (string | Buffer)[]) =>
    (
      await collectOutput(
        wrote(
          [],
          parts.map((part) => Buffer.from(part)),
        ),
        BOUNDS,
      )
    ).stderr;
  expect(await stderr('before\n', 'a\n', 'why\n')).toBe('a\nwhy\n');
  expect(await stderr('€€€')).toBe('€€');
  expect(await stderr(...Array.from({ length: 100 }, () => 'x\n'), 'last')).toBe('x\nlast');
  expect(await stderr('1234567\n')).toBe('1234567\n');
  expect(await stderr(Buffer.from('€').subarray(0, 2), Buffer.from('€').subarray(2), '!')).toBe('€!');
});

test('bytes that are no text become replacement characters', async () => {
  expect(await collectOutput(wrote([Buffer.from([0x61, 0xff, 0xe2, 0x82])]), BOUNDS)).toMatchObject({
    stdout: 'a\uFFFD\uFFFD',
    truncated: false,
  });
});

test('a flood is read on after the cut, and kills once beyond its bound', async () => {
  const flood = function* (): Generator<Buffer> {
    for (let block = 0; block < 64; block += 1) yield Buffer.alloc(64 * KiB, 'x');
  };
  const read = wrote(flood());
  expect(await collectOutput(read, { ...BOUNDS, drainedBytesMax: 4096 * KiB })).toMatchObject({ flooded: false });
  expect(read.kills()).toBe(0);
  const killed = wrote(flood());
  expect(await collectOutput(killed, { ...BOUNDS, drainedBytesMax: 4096 * KiB - 1 })).toMatchObject({
    stdout: 'xxxxxxxx',
    truncated: true,
    flooded: true,
  });
  expect(killed.kills()).toBe(1);
});

test('a broken pipe ends the collection with what was read', async () => {
  const stdout = new PassThrough();
  const collecting = collectOutput({ ...wrote([]), stdout }, BOUNDS);
  stdout.write('half');
  setImmediate(() => stdout.destroy(new Error('broken')));
  expect(await collecting).toMatchObject({ stdout: 'half' });
});
