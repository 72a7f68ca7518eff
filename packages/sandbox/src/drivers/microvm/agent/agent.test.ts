import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { MICROVM_BOUNDS } from '../settings.ts';
import { agentLink } from './agent-link.ts';
import { outputStream } from './output-stream.ts';
import { startMessage } from './start-message.ts';

const MARK = Buffer.from('mark-mark');

test.each([
  [['all in one', 'mark-mark'], 'all in one'],
  [['cut ma', 'rk-', 'mark'], 'cut '],
  [['mark-mar', 'mark-mark'], 'mark-mar'],
  [['mark', '-mark after'], ''],
  [['without an end'], 'without an end'],
])('an output of the parts %j is %j', async (parts, expected) => {
  const channel = new PassThrough();
  const { stream, complete } = outputStream(channel, MARK);
  for (const part of parts) {
    channel.write(part);
    await turn();
  }
  channel.end();
  expect(await text(stream)).toBe(expected);
  await complete;
});

test('bytes that cannot begin the mark are there at once', async () => {
  const channel = new PassThrough();
  const { stream } = outputStream(channel, MARK);
  channel.write('now mar');
  await turn();
  expect(String(stream.read())).toBe('now ');
  channel.destroy();
});

test('an output that nobody reads stops, and is taken within bounds when the tool has ended', async () => {
  const channel = new PassThrough();
  const { drain, complete } = outputStream(channel, MARK);
  const part = Buffer.alloc(64 * KiB);
  for (let count = 0; count < 10; count += 1) channel.write(part);
  await turn();
  expect(channel.isPaused()).toBe(true);
  drain();
  for (let bytes = 0; bytes <= MICROVM_BOUNDS.restBytesMax; bytes += part.length) channel.write(part);
  await complete;
});

test.each(['exit 1', 'exit -1 0 0 0 0', 'exit 0 0 0 0 0 0', 'exit 0 0 0 0 9999999999', '', 'started now'])(
  'an agent that says %j is not believed',
  async (line) => {
    const control = new PassThrough();
    const { ended } = agentLink(control);
    control.write(`${line}\n`);
    expect(await ended).toBeUndefined();
  },
);

test('an agent that writes a line without end is left', async () => {
  const control = new PassThrough();
  const { ended } = agentLink(control);
  control.write('x'.repeat(MICROVM_BOUNDS.agentLineBytesMax + 1));
  expect(await ended).toBeUndefined();
  expect(control.destroyed).toBe(true);
});

test('a start says how long it is, quotes what a shell would read otherwise, and differs each time', () => {
  const limits = { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1, cpuSecondsMax: 3 };
  const environment = { A: "it's $(x) €" };
  const spec = { label: 'test', command: ['p', 'a\nb'] as const, environment, mounts: [], network: [], limits };
  const [one, other] = [0, 1].map(() => startMessage({ ...spec, command: ['p', 'a\nb'] }, undefined, 5999));
  const said = String(one?.bytes);
  const end = said.indexOf('\n');
  expect(said.slice(0, end)).toBe(`start ${Buffer.byteLength(said.slice(end + 1))}`);
  expect(said).toContain("'clock' '5'");
  expect(said).toContain("'cpu_seconds' '3'");
  expect(said).toMatch(/'--' 'PATH=\/usr\/bin:\/bin' 'PWD=\/tmp' 'A=it'\\''s \$\(x\) €' 'p' 'a\nb'$/);
  expect(one?.mark.equals(other?.mark ?? Buffer.alloc(0))).toBe(false);
});
