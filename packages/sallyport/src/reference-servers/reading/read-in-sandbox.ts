import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  collectOutput,
  runtimeMounts,
  type SandboxDriver,
  type SandboxExit,
  type SandboxSpec,
} from '@sallyport/sandbox';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../domain/shape/is-object.ts';
import type { ReadText } from '../document-reader.port.ts';
import { READING_PROGRAM } from './reading-program.ts';

/**
 * Kinds of files, with the package that reads each, what is required of it, and from there the module that needs no
 * other package, and the package's folder.
 */
const PACKAGES = {
  pdf: { name: 'unpdf', required: 'unpdf', module: './index.mjs', folder: '../', what: 'PDF' },
  docx: {
    ...{ name: 'mammoth', required: 'mammoth/mammoth.browser.min.js' },
    ...{ module: './mammoth.browser.min.js', folder: './', what: 'Word' },
  },
} as const;
/** One of them. */
export type SandboxedKind = keyof typeof PACKAGES;

/** Bounds of one file. */
const READING_BOUNDS = {
  memoryMb: 512,
  cpuMillicores: 1_000,
  cpuSecondsMax: 30,
  /** Longest time for one file, in ms. */
  readMs: 60_000,
  processesMax: 32,
  diskMb: 8,
  /** Most characters of its text. */
  charsMax: 8_000_000,
  outputBytesMax: 32 * MiB,
  titleCharsMax: 500,
} as const;

/**
 * Reads a file in a sandbox that sees nothing but the package that reads it. Its text of a Word file is HTML.
 * @throws ToolLayerError E3109 for what is no such file; E3102 at a limit; E3101 when there is no sandbox or no such
 *   package; the reason of the signal
 */
export async function readInSandbox(
  driver: SandboxDriver,
  kind: SandboxedKind,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<{ readonly text: string } & Omit<ReadText, 'content'>> {
  const { what } = PACKAGES[kind];
  const late = AbortSignal.timeout(READING_BOUNDS.readMs);
  const stopped = AbortSignal.any([signal, late]);
  stopped.throwIfAborted();
  await using running = await driver.start(specOf(kind));
  const stop = (): void => running.kill();
  stopped.addEventListener('abort', stop, { once: true });
  try {
    if (stopped.aborted) stop();
    const collected = collectOutput(running, { stdoutBytesMax: READING_BOUNDS.outputBytesMax, stderrBytesMax: MiB });
    // A reader that ends early does not take the rest.
    running.stdin.on('error', () => undefined);
    running.stdin.end(bytes);
    const [exit, { stdout, flooded }] = await Promise.all([running.exited, collected]);
    signal.throwIfAborted();
    const limit = late.aborted ? 'time' : flooded ? 'output' : exit.violation;
    if (limit !== undefined) throw tooMuch(what, limit);
    return textIn(what, exit, stdout);
  } finally {
    stopped.removeEventListener('abort', stop);
  }
}

function specOf(kind: SandboxedKind): SandboxSpec {
  const address = addressOf(kind);
  const { charsMax, memoryMb, cpuMillicores, cpuSecondsMax, processesMax, diskMb } = READING_BOUNDS;
  const heap = `--max-old-space-size=${Math.floor(memoryMb * HEAP_SHARE)}`;
  const program = [process.execPath, heap, '--input-type=module', '--eval', READING_PROGRAM] as const;
  const command: SandboxSpec['command'] = [...program, kind, address.href, String(charsMax)];
  return {
    label: `reader of ${PACKAGES[kind].what} documents`,
    command,
    environment: { TZ: 'UTC' },
    mounts: [
      ...runtimeMounts(command),
      { path: fileURLToPath(new URL(PACKAGES[kind].folder, address)).replace(/\/$/, ''), mode: 'ro' },
    ],
    network: [],
    limits: { memoryMb, cpuMillicores, cpuSecondsMax, processesMax, diskMb },
  };
}

/** Share of the memory for the heap; the rest is for the program itself and the bytes of the file. */
const HEAP_SHARE = 0.7;

function addressOf(kind: SandboxedKind): URL {
  const { name, required, module, what } = PACKAGES[kind];
  try {
    // A bundle has no import.meta.resolve.
    return new URL(module, pathToFileURL(createRequire(import.meta.url).resolve(required)));
  } catch (cause) {
    throw new ToolLayerError(
      'E3101',
      `${what} documents are read with the package ${name}. Install it: npm install ${name}.`,
      {
        cause,
      },
    );
  }
}

function textIn(
  what: string,
  exit: SandboxExit,
  stdout: string,
): { readonly text: string } & Omit<ReadText, 'content'> {
  if (exit.notStarted === true)
    throw new ToolLayerError('E3101', `The sandbox that reads ${what} documents could not be set up.`);
  const answer = answerIn(stdout);
  // Node ends by SIGABRT where its heap is full.
  if (answer === undefined) throw tooMuch(what, 'memory');
  const { text, title, notes, fault } = answer;
  if (typeof text !== 'string')
    throw new ToolLayerError('E3109', `The file is no readable ${what} document: ${lineOf(fault)}.`);
  return {
    text: text.replaceAll('\0', '').toWellFormed(),
    notes: Array.isArray(notes) ? notes.map(String) : [],
    ...titleIn(title),
  };
}

/** The first sentence of a foreign text, on one line. */
const lineOf = (text: unknown): string =>
  String(text)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .split(/[.:] /)[0]
    ?.replace(/[.!]$/, '')
    .slice(0, 100)
    .toWellFormed() ?? '';

function titleIn(title: unknown): { readonly title?: string } {
  if (typeof title !== 'string') return {};
  const line = title
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, READING_BOUNDS.titleCharsMax)
    .toWellFormed();
  return line === '' ? {} : { title: line };
}

/** Foreign data: a file that takes over its reader can make it say anything. */
function answerIn(stdout: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const answer: unknown = JSON.parse(stdout);
    return isObject(answer) ? answer : undefined;
  } catch {
    return undefined;
  }
}

const tooMuch = (what: string, limit: string): ToolLayerError =>
  new ToolLayerError('E3102', `The ${what} document was not read: it takes too much ${limit}. Ingest it in parts.`, {
    details: { limit },
  });
