import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type ChainedEvent, eventText } from '../../../domain/event/chained-event.ts';
import { EMPTY_CHAIN, link } from '../../chain.ts';
import { openJsonlEventSink } from './jsonl-event-sink.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jsonl-sink-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const event = (text: string): ChainedEvent =>
  link({ id: 'e1', type: 'ai.agent.tool.invoked', time: 0, tenantId: 'acme', data: { text } }, 'chain', EMPTY_CHAIN);

async function writtenOf(batches: readonly (readonly ChainedEvent[])[]): Promise<string> {
  const path = join(folder, 'audit.jsonl');
  const sink = await openJsonlEventSink(path);
  for (const events of batches) await sink.deliver(events);
  await sink.flush();
  await sink.close();
  return readFile(path, 'utf8');
}

const linesOf = (events: readonly ChainedEvent[]): string => events.map((each) => `${eventText(each)}\n`).join('');

test.each([
  ['nothing', []],
  ['text beyond ASCII, and half a character, which is replaced', ['Füße 😀', 'before \ud800 behind', 'plain']],
  ['more than is written at once', Array.from({ length: 700 }, (_, i) => `${i} `.repeat(300))],
  ['an event that is larger than that, among others', ['small', 'ü'.repeat(MiB), 'small']],
])('AUD-02 the file holds the text of each event, one a line: %s', async (_, texts) => {
  const events = texts.map(event);
  expect(await writtenOf([events])).toBe(linesOf(events).toWellFormed());
});

test('AUD-02 a delivery goes behind the one before', async () => {
  const [one, other] = [[event('long '.repeat(1000)), event('b')], [event('c')]];
  expect(await writtenOf([one, other])).toBe(linesOf([...one, ...other]));
});

test('AUD-02 the file is opened once its folder is there, however deep', async () => {
  const sink = await openJsonlEventSink(join(folder, ...Array<string>(60).fill('deep'), 'audit.jsonl'));
  await sink.close();
});

test('AUD-02 a sink that was closed takes nothing more: its file is closed', async () => {
  const sink = await openJsonlEventSink(join(folder, 'audit.jsonl'));
  await sink.close();
  await expect(sink.deliver([event('late')])).rejects.toMatchObject({ code: 'EBADF' });
  await expect(sink.flush()).rejects.toMatchObject({ code: 'EBADF' });
});

test('AUD-02.2 what a full disk does not take is an error, and the place of the sink is stored under its name', async () => {
  const sink = await openJsonlEventSink('/dev/full');
  expect(sink.name).toBe('jsonl');
  await expect(sink.deliver([event('a')])).rejects.toMatchObject({ code: 'ENOSPC' });
  await sink.close();
});

test('AUD-02.2 a line that a full disk or a crash cut off is ended, and no event stands in it', async () => {
  const path = join(folder, 'audit.jsonl');
  const [one, two] = [event('one'), event('two')];
  await writeFile(path, '{"cut');
  const sink = await openJsonlEventSink(path);
  await sink.deliver([one]);
  const whole = `{"cut\n${linesOf([one])}`;
  expect(await readFile(path, 'utf8')).toBe(whole);
  await using file = await open(path);
  const handle = Object.getPrototypeOf(file) as typeof file;
  const { appendFile } = handle;
  vi.spyOn(handle, 'appendFile').mockImplementationOnce(async function (this: typeof file, data) {
    await appendFile.call(this, String(data).slice(0, 9));
    throw new Error('no space');
  });
  await expect(sink.deliver([two])).rejects.toThrow('no space');
  await sink.deliver([two]);
  await sink.deliver([one]);
  await sink.close();
  expect(await readFile(path, 'utf8')).toBe(`${whole}${linesOf([two]).slice(0, 9)}\n${linesOf([two, one])}`);
});
