import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sallyport/std/clock';
import type { FilesystemPermission } from '../../../api/schemas/tool-manifest.ts';
import { defaultsOf } from '../../domain/settings/setting.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import type { Executor, ExecutorCall } from '../executor.port.ts';
import type { FileConfig } from './file-config.ts';
import { createFileExecutor, type FileExecutorParts } from './file-executor.ts';
import { FILE_SETTINGS } from './settings.ts';

/** A temporary folder with a root folder and a file outside the root, and file tools that may use the root. */
export interface FileBench extends AsyncDisposable {
  readonly folder: string;
  /** Path of the root, which is granted for reading and writing. */
  readonly root: string;
  readonly executor: Executor;
  call(
    operation: FileConfig['operation'],
    parameters: Record<string, unknown>,
    more?: Partial<ExecutorCall>,
  ): ExecutorCall;
  /** Runs a tool and returns its result. */
  run(
    operation: FileConfig['operation'],
    parameters: Record<string, unknown>,
    more?: RunOptions,
  ): Promise<Record<string, unknown>>;
}

export interface RunOptions {
  readonly filesystem?: FilesystemPermission[];
  readonly outputBytesMax?: number;
  readonly signal?: AbortSignal;
}

const never = new AbortController().signal;

/** Dependencies of a file executor whose machine closes nothing. */
export const USUAL: FileExecutorParts = { settings: defaultsOf(FILE_SETTINGS), clock: systemClock, closed: [] };

/** Opens a bench; disposing removes the folder. */
export async function openFileBench(parts: Partial<FileExecutorParts> = {}): Promise<FileBench> {
  const folder = await mkdtemp(join(tmpdir(), 'file-tools-'));
  const root = join(folder, 'root');
  await mkdir(root);
  const executor = createFileExecutor({ ...USUAL, ...parts });
  const limits = { timeoutMs: 30_000, cpuMillicores: 500, memoryMb: 256, outputBytesMax: 65_536 };
  const grant = { filesystem: [{ path: root, mode: 'rw' as const }], network: [], credentials: [], limits };
  const call: FileBench['call'] = (operation, parameters, more = {}) =>
    callOf({ executor: { kind: 'file', config: { operation } } }, parameters, { grant, ...more });
  return {
    folder,
    root,
    executor,
    call,
    async run(operation, parameters, { filesystem = grant.filesystem, outputBytesMax = 65_536, signal = never } = {}) {
      const granted = { ...grant, filesystem, limits: { ...limits, outputBytesMax } };
      const { result } = await executor.execute(call(operation, parameters, { grant: granted }), signal);
      return result as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
