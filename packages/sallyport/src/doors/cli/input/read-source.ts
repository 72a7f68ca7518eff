import { open } from 'node:fs/promises';
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
  if (source === '-') return collect(io.stdin, 'standard input');
  return /^https?:\/\//i.test(source) ? fetchText(source, io) : readTextFile(source, io);
}

/** Text of a file. */
export async function readTextFile(name: string, io: CliIo): Promise<string> {
  try {
    await using file = await open(resolve(io.cwd, name));
    const { size } = await file.stat();
    if (size > SOURCE_BYTES_MAX) throw usageError(`${name} is larger than ${SOURCE_BYTES_MAX} bytes.`);
    return await file.readFile('utf8');
  } catch (thrown) {
    const reason = FILE_REASONS[(thrown as NodeJS.ErrnoException).code ?? ''];
    throw reason === undefined ? thrown : usageError(`${name} ${reason}`);
  }
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Check the name.',
  EACCES: 'may not be read by this user.',
  EISDIR: 'is a folder. Name a file.',
  ENOTDIR: 'does not exist: a part of its path is a file.',
};

async function fetchText(address: string, io: CliIo): Promise<string> {
  const stop = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const signal = io.signal === undefined ? stop : AbortSignal.any([stop, io.signal]);
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
  return collect(response.body, address);
}

async function collect(chunks: AsyncIterable<Uint8Array | string>, name: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    length += bytes.length;
    if (length > SOURCE_BYTES_MAX) throw usageError(`${name} sends more than ${SOURCE_BYTES_MAX} bytes.`);
    parts.push(bytes);
  }
  return Buffer.concat(parts, length).toString('utf8');
}
