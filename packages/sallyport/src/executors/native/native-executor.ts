// A synchronous function runs without a promise of its own and without a listener on the signal.

import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ownCopy } from '@sallyport/std/json/own-copy';
import type { Fault } from '../../../api/schemas/error.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { RunCheckpoints } from '../../domain/checkpoint/checkpoint.ts';
import type { GivenDocument } from '../../domain/document/given-document.ts';
import type { ToolState } from '../../domain/invocation/tool-state.ts';
import { NO_USAGE } from '../../domain/invocation/usage.ts';
import type { Principal, Progress } from '../../domain/principal/principal.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import { givesCallResult, MCP_RESULT } from '../../domain/tool/call-result.ts';
import { isSafeToRepeat } from '../../domain/tool/tool-version.ts';
import { abortReason } from '../abort-reason.ts';
import type { Executor, ExecutorCall, ExecutorOutcome } from '../executor.port.ts';
import { neverAsks } from '../never-asks.ts';
import { type CallClient, clientOfCall } from './client-of-call.ts';
import { isolationError, isolationFaults } from './isolation-fault.ts';

/** Context of a function beside its parameters. */
export interface NativeCallContext {
  readonly invocationId: string;
  readonly principal: Principal;
  /**
   * Aborted when time is up or the call is cancelled. A function that continues is abandoned: nobody reads its result.
   */
  readonly signal: AbortSignal;
  /** Values of the secrets that the manifest declares and the call was granted, by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Reports progress to the caller; without a listener it does nothing. */
  progress(progress: Progress): void;
  /** The MCP client that the call came from: log messages and questions to it. */
  readonly client: CallClient;
  /** The tool's state in the layer. Writes of a failed call are discarded. */
  readonly state: ToolState;
  /** States from which a later run continues this work after a failure, a timeout, a cancel or a crash. */
  readonly checkpoints: RunCheckpoints;
  /**
   * Ends this run so that its call continues as a task: return what it gives. A worker then runs the function anew, with
   * the given state as `checkpoints.restored`. Undefined where the client of the call takes no task now, in such a later
   * run too, and where the tool may not run twice: the function has to finish in this run then.
   * @throws what `checkpoints.save` throws
   */
  readonly becomeTask: ((state: unknown) => Promise<LaterRun>) | undefined;
  /** Documents that the call asked for, or the manifest depends on; empty for none. */
  readonly documents: readonly GivenDocument[];
  /**
   * Call this before a change elsewhere: if this call fails, the layer calls the given tool with these arguments for
   * the same agent, once. Resolves when the change may be made.
   * @param version or range; default: the newest
   * @throws ToolLayerError when the agent may not call that tool, or too much is recorded: then make no change
   */
  compensateWith(toolId: string, parameters: Readonly<Record<string, unknown>>, version?: string): Promise<void>;
  /**
   * What the agent has saved of the session of this call at the context server; undefined when there is nothing.
   * @throws ToolLayerError E3109 when the manifest lacks `execution_config.session_context`; what the server's calls throw
   */
  sessionContext(): Promise<Readonly<Record<string, unknown>> | undefined>;
}

const LATER = Symbol('later');
/** What a function returns in place of a result when its call has become a task. */
export type LaterRun = typeof LATER;

/**
 * A tool as a function of the embedding program. Its return value (or its promise's) is the result; undefined counts as
 * null. A thrown ToolLayerError reaches the caller unchanged; of any other error only the name does, since its message
 * was not written for the caller.
 */
export type NativeFunction = (parameters: Readonly<Record<string, unknown>>, context: NativeCallContext) => unknown;

/** Runs functions in this process: trusted code, `isolation: none`. */
export interface NativeExecutor extends Executor {
  /**
   * Sets the function that runs one version of a tool, for every tenant, until the handle is disposed.
   * @param contentHash of the manifest that the function was written for: a manifest with the same id and version but
   *   another content, in any tenant, does not reach it. Default: any content.
   * @throws ToolLayerError E3007 when that version has a function already
   */
  register(toolId: string, version: string, run: NativeFunction, contentHash?: string): Disposable;
}

interface Bound {
  readonly run: NativeFunction;
  readonly contentHash: string | undefined;
}

/** By tool id and version. */
type Functions = Map<string, Map<string, Bound>>;

/** Makes an executor without functions. */
export function createNativeExecutor(): NativeExecutor {
  const functions: Functions = new Map();
  const run = (call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> => {
    const { manifest, contentHash } = call.tool;
    // Refused at registration; manifests registered by an earlier release are refused here.
    const unisolated = isolationError(manifest);
    if (unisolated !== undefined) return Promise.reject(unisolated);
    const found = functions.get(manifest.tool_id)?.get(manifest.version);
    if (found === undefined) return Promise.reject(noFunction(manifest));
    if (found.contentHash !== undefined && found.contentHash !== contentHash)
      return Promise.reject(otherTool(manifest));
    return runFunction(found.run, call, signal);
  };
  return {
    kind: 'native',
    owns: ({ manifest }) => manifest.executor.kind === 'native',
    configFaults,
    isRetryable: ({ manifest }) => isSafeToRepeat(manifest),
    takesBackAll: ({ manifest }) => manifest.executor.config?.[TRANSACTED] === true,
    ...neverAsks(run),
    register(toolId, version, added, contentHash) {
      const versions = functions.get(toolId) ?? new Map<string, Bound>();
      if (versions.has(version)) {
        throw new ToolLayerError(
          'E3007',
          `${toolId} ${version} has a function already. Dispose it, or use a new version.`,
        );
      }
      const bound = { run: added, contentHash };
      functions.set(toolId, versions.set(version, bound));
      return { [Symbol.dispose]: () => forget(functions, toolId, version, bound) };
    },
  };
}

function forget(functions: Functions, toolId: string, version: string, bound: Bound): void {
  const versions = functions.get(toolId);
  if (versions?.get(version) !== bound) return;
  versions.delete(version);
  if (versions.size === 0) functions.delete(toolId);
}

/** `executor.config`: the function changes only its state, or names a compensating call for each change. */
const TRANSACTED = 'transacted';
/** Members of `executor.config`, each true or false. */
const FLAGS: ReadonlySet<string> = new Set([TRANSACTED, MCP_RESULT]);

const noProgress = (): void => {};

/** Passes progress on, without its faulty members. A report fails no call, with a client that listens as without one. */
function report(onProgress: (progress: Progress) => void, given: Partial<Progress> | undefined): void {
  const { progress, total, message } = given ?? {};
  if (typeof progress !== 'number') return;
  onProgress({
    progress,
    ...(typeof total === 'number' && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  });
}

const nothingKept = (): Promise<never> =>
  Promise.reject(new ToolLayerError('E3109', 'This layer keeps no state of tools, and takes nothing back.'));
const NO_STATE: ToolState = { get: nothingKept, put: nothingKept, delete: nothingKept };

const NO_CHECKPOINTS: RunCheckpoints = {
  restored: undefined,
  stateBytesMax: 0,
  save: nothingKept,
  onTimer: () => {},
};

const noSession = (): Promise<never> =>
  Promise.reject(
    new ToolLayerError(
      'E3109',
      'Only a function whose manifest says session_context reads it. Add it to execution_config.',
    ),
  );

const compensating =
  ({ compensateWith }: ExecutorCall): NativeCallContext['compensateWith'] =>
  async (toolId, parameters, toolVersion) =>
    (compensateWith ?? nothingKept)({ toolId, parameters, ...(toolVersion === undefined ? {} : { toolVersion }) });

const becomingTask = (call: ExecutorCall): NativeCallContext['becomeTask'] =>
  call.mayRunLater === true
    ? async (state) => {
        await (call.checkpoints ?? NO_CHECKPOINTS).save(state);
        return LATER;
      }
    : undefined;

function runFunction(run: NativeFunction, call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> {
  if (signal.aborted) return Promise.reject(abortReason(signal));
  const { invocationId, principal, secrets, parameters, onProgress } = call;
  let result: unknown;
  try {
    // The function may change its arguments; other attempts and the record hold those of the call.
    result = run(ownCopy(parameters), {
      invocationId,
      principal,
      signal,
      secrets,
      progress: onProgress === undefined ? noProgress : (given) => report(onProgress, given),
      client: clientOfCall(call),
      state: call.state ?? NO_STATE,
      get checkpoints() {
        return call.checkpoints ?? NO_CHECKPOINTS;
      },
      becomeTask: becomingTask(call),
      documents: call.documents ?? [],
      compensateWith: compensating(call),
      sessionContext: call.sessionContext ?? noSession,
    });
    if (!isThenable(result)) return Promise.resolve(outcome(result, call));
  } catch (thrown) {
    return Promise.reject(functionFailed(call, thrown));
  }
  return settled(result, call, signal);
}

/**
 * The result as it is now: the function may hold it, and change it while it is judged, recorded and answered. A
 * CallToolResult that reports an error is the tool's own error, as that of an MCP server is.
 */
function outcome(given: unknown, { tool }: ExecutorCall): ExecutorOutcome {
  if (given === LATER) return { result: null, later: true, usage: NO_USAGE };
  const result = ownCopy(given);
  const isError = isObject(result) && result['isError'] === true && givesCallResult(tool.manifest);
  return {
    result: result === undefined ? null : result,
    ...(isError ? { toolError: true } : {}),
    usage: NO_USAGE,
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The promise's end or the abort, whichever comes first. */
function settled(running: PromiseLike<unknown>, call: ExecutorCall, signal: AbortSignal): Promise<ExecutorOutcome> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    const done = (): void => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    Promise.resolve(running)
      .then((result) => outcome(result, call))
      .then(
        (ended) => {
          done();
          resolve(ended);
        },
        (thrown: unknown) => {
          done();
          reject(functionFailed(call, thrown));
        },
      );
  });
}

function functionFailed({ tool }: ExecutorCall, thrown: unknown): ToolLayerError {
  const message = (name: string): string => `The function of ${tool.manifest.tool_id} failed with ${name}.`;
  try {
    if (thrown instanceof ToolLayerError) return thrown;
    const name = thrown instanceof Error && /^[A-Za-z]{1,60}$/.test(thrown.name) ? thrown.name : 'error';
    return new ToolLayerError('E3109', message(name), { cause: thrown });
  } catch {
    // A proxy, for example, that cannot be looked at: no log could show it either.
    return new ToolLayerError('E3109', message('something that cannot be read'));
  }
}

const noFunction = ({ tool_id, version }: ToolManifest): ToolLayerError =>
  new ToolLayerError(
    'E3901',
    `${tool_id} ${version} has no function in this process. The embedding program must bind one before it is called: bindFunction('${tool_id}', run), registerFunction(manifest, run), or registerLangChainTools(tools) for tools of LangChain.`,
  );

const otherTool = ({ tool_id, version }: ToolManifest): ToolLayerError =>
  new ToolLayerError(
    'E3901',
    `The function of ${tool_id} ${version} was written for another manifest of that id and version. Register this one under an id or a version of its own, and bind its function.`,
  );

function configFaults(manifest: ToolManifest): readonly Fault[] {
  const config = manifest.executor.config ?? {};
  const unknown = Object.keys(config)
    .filter((key) => !FLAGS.has(key) || typeof config[key] !== 'boolean')
    .map((key) => ({
      path: `/executor/config/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      code: 'E3008',
      keyword: 'additionalProperties',
      message: FLAGS.has(key) ? 'is true or false' : 'a function has no such configuration',
      hint: FLAGS.has(key) ? 'Write true or false.' : 'Remove this member.',
    }));
  return [...unknown, ...isolationFaults(manifest)];
}
