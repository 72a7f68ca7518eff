import { constants, openSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import type { CliIo } from '../cli-parts.ts';
import { usageError } from './usage-error.ts';

/** Largest document that is read from a file, an address or standard input. */
const SOURCE_BYTES_MAX = 16 * MiB;
/** Longest download from an address, in ms. */
const FETCH_TIMEOUT_MS = 30_000;

/** Text of a file, of standard input for `-`, or of an http(s) address. */
export async function readSource(source: string, io: CliIo): Promise<string> {
  if (source === '-') return collect(io.stdin, 'standard input', io);
  return /^https?:\/\//i.test(source) ? fetchText(source, io) : readTextFile(source, io);
}

/** Text of a file, or of what a pipe or a device sends. */
export async function readTextFile(name: string, io: CliIo): Promise<string> {
  try {
    const path = resolve(io.cwd, name);
    if ((await stat(path)).isFIFO()) return await collect(openPipe(path), name, io);
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > SOURCE_BYTES_MAX) throw usageError(`${name} is larger than ${SOURCE_BYTES_MAX} bytes.`);
    return await collect(file.createReadStream({ autoClose: false }), name, io);
  } catch (thrown) {
    const reason = FILE_REASONS[(thrown as NodeJS.ErrnoException).code ?? ''];
    throw reason === undefined ? thrown : usageError(`${name} ${reason}`);
  }
}

/** Neither the opening of a pipe nor its reading waits in a thread, where nothing could end it before it has a writer. */
const openPipe = (path: string): Socket =>
  new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Check the name.',
  EACCES: 'may not be read by this user.',
  EISDIR: 'is a folder. Name a file.',
  ENOTDIR: 'does not exist: a part of its path is a file.',
};

async function fetchText(address: string, io: CliIo): Promise<string> {
  const stop = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const signal = AbortSignal.any([stop, io.signal]);
  let response: Response;
  try {
    response = await fetch(address, { signal, headers: { accept: 'application/json, application/yaml, */*' } });
  } catch (cause) {
    const why = stop.aborted ? `did not answer within ${FETCH_TIMEOUT_MS / 1000} s` : 'cannot be reached';
    throw Object.assign(usageError(`${address} ${why}.`), { cause });
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw usageError(`${address} answered with HTTP ${response.status}. Check the address.`);
  }
  return collect(response.body, address, io);
}

/** All that a source sends; a command that is stopped waits for no more of it. */
async function collect(
  chunks: AsyncIterable<Uint8Array | string>,
  name: string,
  { signal }: Pick<CliIo, 'signal'>,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of untilStopped(chunks, name, signal)) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    length += bytes.length;
    if (length > SOURCE_BYTES_MAX) throw usageError(`${name} sends more than ${SOURCE_BYTES_MAX} bytes.`);
    parts.push(bytes);
  }
  return Buffer.concat(parts, length).toString('utf8');
}

async function* untilStopped<Chunk>(
  chunks: AsyncIterable<Chunk>,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const stop = Promise.withResolvers<never>();
  stop.promise.catch(() => undefined);
  const onAbort = (): void => stop.reject(usageError(`The command was stopped before ${name} was read to its end.`));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const each = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([each.next(), stop.promise]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // A source that still waits for its next chunk answers this later than anybody asks.
    void Promise.resolve(each.return?.()).catch(() => undefined);
    if (chunks instanceof Socket) chunks.destroy();
  }
}
