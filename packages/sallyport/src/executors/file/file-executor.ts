import { KiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { Undoer } from '../../domain/invocation/undo-step.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import { type WireCheck, wireCheck } from '../../registry/wire-faults.ts';
import { abortReason, orAborted } from '../abort-reason.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { neverAsks } from '../never-asks.ts';
import { createHandles } from './confinement/handles.ts';
import { createPathPolicy } from './confinement/path-policy.ts';
import { osFault } from './confinement/refusals.ts';
import { rootsOf } from './confinement/roots.ts';
import { FileConfig } from './file-config.ts';
import { FILE_TOOLS } from './file-tools.ts';
import type {
  EditParameters,
  GlobParameters,
  GrepParameters,
  ListParameters,
  ReadParameters,
  WriteParameters,
} from './parameters.ts';
import { FILE_BOUNDS, type FileBounds, type FileSettings } from './settings.ts';
import { editFile } from './tasks/edit-file.ts';
import type { FileTask } from './tasks/file-task.ts';
import { createFileTurns } from './tasks/file-turns.ts';
import { findFiles } from './tasks/find-files.ts';
import { listFolder } from './tasks/list-folder.ts';
import { readFile } from './tasks/read-file.ts';
import { searchFiles } from './tasks/search-files.ts';
import { undoChange } from './tasks/undo-change.ts';
import { writeFile } from './tasks/write-file.ts';

/** Dependencies of the file executor. */
export interface FileExecutorParts {
  readonly settings: FileSettings;
  readonly bounds?: Partial<FileBounds>;
  readonly clock: Clock;
  /**
   * Absolute folders that no tool can access, whatever grant and settings say: the layer's own keys are not for agents.
   */
  readonly closed: readonly string[];
  /** Path where the kernel shows this process's descriptors. Default /proc/self/fd. */
  readonly descriptors?: string;
}

type Operation = FileConfig['operation'];
type Parameters = Readonly<Record<string, unknown>>;

/** Each gets parameters that were checked against its schema. */
const RUNS: Readonly<Record<Operation, (task: FileTask, parameters: Parameters) => Promise<Record<string, unknown>>>> =
  {
    read: (task, parameters) => readFile(task, parameters as ReadParameters),
    write: (task, parameters) => writeFile(task, parameters as WriteParameters),
    edit: (task, parameters) => editFile(task, parameters as EditParameters),
    list: (task, parameters) => listFolder(task, parameters as ListParameters),
    glob: (task, parameters) => findFiles(task, parameters as GlobParameters),
    grep: (task, parameters) => searchFiles(task, parameters as GrepParameters),
  };

/** Part of the call's output limit reserved for the result's members around the text, in bytes. */
const ENVELOPE_BYTES = KiB;
const OUTPUT_BYTES_MIN = 256;

/** Longest time for undoing one change, in ms. */
const UNDO_MS = 60_000;

const configCheck = wireCheck(FileConfig, 'E3008', '/executor/config');

/**
 * Runs tools of kind `file` within the folders of the call's grant (EXE-04).
 *
 * Errors: E3102 a size limit, E3105 a path outside the grant or beyond its mode, E3109 a fault that the model can fix
 * (no such file, text that does not occur), E3210 a glob of the settings, E3509 invalid arguments, E3704 a file that
 * somebody else changed, E3901 where /proc is missing, and the signal's reason when it aborts. Refusals are not
 * retryable.
 */
export function createFileExecutor(parts: FileExecutorParts): Executor & Undoer {
  const handles = createHandles(parts.descriptors);
  const policy = createPathPolicy(parts.settings, parts.closed);
  const bounds = { ...FILE_BOUNDS, ...parts.bounds };
  const { clock } = parts;
  const turns = createFileTurns();
  const swept = new Set<string>();
  const checks = parameterChecks();
  const fixed = { handles, policy, bounds, clock, turns, swept };

  const run = async (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => {
    if (signal.aborted) throw abortReason(signal);
    const { grant, parameters, onProgress, undo } = call;
    const operation = operationOf(call.tool.manifest);
    checkParameters(checks[operation], parameters);
    const roots = rootsOf(grant.filesystem);
    const outputBytesMax = Math.max(OUTPUT_BYTES_MIN, grant.limits.outputBytesMax - ENVELOPE_BYTES);
    const options = { ...(onProgress === undefined ? {} : { onProgress }), ...(undo === undefined ? {} : { undo }) };
    const task = { ...fixed, roots, outputBytesMax, signal, ...options };
    try {
      return { result: await RUNS[operation](task, parameters), usage: NO_USAGE };
    } catch (thrown) {
      throw osFault(thrown, typeof parameters['path'] === 'string' ? parameters['path'] : '.');
    }
  };
  return {
    kind: 'file',
    owns: ({ manifest }) => manifest.executor.kind === 'file',
    configFaults: ({ executor }) => configCheck(executor.config ?? {}),
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    ...neverAsks(run),
    // What hangs, as on a network disk that is gone, is not waited for; it changes nothing once it is over.
    undo(step) {
      const signal = AbortSignal.timeout(UNDO_MS);
      return orAborted(undoChange({ ...fixed, outputBytesMax: 0, signal }, step), signal);
    },
  };
}

function operationOf({ tool_id, executor }: ToolManifest): Operation {
  if (configCheck(executor.config ?? {}).length === 0) return (executor.config as FileConfig).operation;
  throw new ToolLayerError('E3901', `${tool_id} does not say which operation on files it is. Register it anew.`);
}

const parameterChecks = (): Readonly<Record<Operation, WireCheck>> => {
  const check = (operation: Operation): WireCheck => wireCheck(FILE_TOOLS[operation].parameters, 'E3509');
  return {
    read: check('read'),
    write: check('write'),
    edit: check('edit'),
    list: check('list'),
    glob: check('glob'),
    grep: check('grep'),
  };
};

/** Checked again, since a registered manifest may have any schema. */
function checkParameters(check: WireCheck, parameters: Parameters): void {
  const [first] = check(parameters);
  if (first === undefined) return;
  throw new ToolLayerError('E3509', `The argument at ${first.path || '/'} ${first.message}.`, {
    details: { path: first.path },
  });
}
