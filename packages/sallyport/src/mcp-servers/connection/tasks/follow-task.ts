import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/client';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ServerTask } from '../../../domain/invocation/tasks/server-task.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { callResultOf } from '../calls/call-result.ts';
import { answersTo, questionsIn } from '../calls/request-with-input.ts';
import type { UpstreamCallResult } from '../link.ts';
import type { Multiplexer } from '../multiplexer.ts';
import type { RawResult, RequestOptions } from '../request-table.ts';
import type { RequestAboutTask } from './request-about-task.ts';
import type { TaskForm } from './task-form.ts';

/** Pauses between two looks at a task, in ms; the server may name another one in between. */
const PAUSE_MS = { min: 50, default: 500, max: 30_000 } as const;
const MESSAGE_CHARS_MAX = 1_024;
/** JSON-RPC: code of an error without one. */
const INTERNAL_ERROR = -32603;

/** The server of a task. */
interface TaskServer {
  readonly mux: Multiplexer;
  readonly label: string;
  readonly form: TaskForm;
  readonly request: RequestAboutTask;
}

/** Looks at a task until it is over, and answers what its server asks meanwhile. */
export async function followTask(
  server: TaskServer,
  task: ServerTask,
  options: RequestOptions,
): Promise<UpstreamCallResult> {
  const { label, form, request } = server;
  const answered = new Set<string>();
  for (let looks = 1; ; looks += 1) {
    const state = await request('tasks/get', task, {}, lookOptions(options)).catch(forgottenBy(label));
    report(options, looks, state);
    const { status } = state;
    if (status === 'completed' || status === 'failed' || status === 'cancelled')
      return form === 'modern' ? endOf(state, label) : resultOf(server, task, options);
    // A server of 2025-11-25 asks on the request for the result, which waits for the end.
    if (status === 'input_required' && form === 'legacy') return resultOf(server, task, options);
    if (status === 'input_required') await answer(server, task, state, answered, options);
    else if (status !== 'working') throw broken(label, 'says nothing usable of its task');
    await sleep(pauseOf(state), undefined, options.signal === undefined ? {} : { signal: options.signal }).catch(() => {
      throw options.signal?.reason;
    });
  }
}

/** A server that refuses to say what became of a task has lost it: nobody knows how far the call came. */
const forgottenBy =
  (label: string) =>
  (thrown: unknown): never => {
    if (thrown instanceof ProtocolError) {
      const cause = `(${thrown.code}): ${thrown.message.slice(0, MESSAGE_CHARS_MAX)}`;
      throw broken(label, `no longer says what became of its task ${cause}`);
    }
    throw thrown;
  };

/** The progress of the task is that of the call; a look is a sign of life. */
function report({ onProgress }: RequestOptions, looks: number, { statusMessage }: RawResult): void {
  const message = typeof statusMessage === 'string' ? { message: statusMessage.slice(0, MESSAGE_CHARS_MAX) } : {};
  onProgress?.({ progress: looks, ...message });
}

/** What is looked at holds the result as a member. */
function lookOptions({ onProgress: _onProgress, onRounded, ...options }: RequestOptions): RequestOptions {
  if (onRounded === undefined) return options;
  const within = (places: readonly string[]): readonly string[] =>
    places.filter((place) => place.startsWith('/result/')).map((place) => place.slice('/result'.length));
  return { ...options, onRounded: (places) => onRounded(within(places)) };
}

async function resultOf({ label, request }: TaskServer, task: ServerTask, options: RequestOptions) {
  // The wait for a person may be long, and is bounded by the call.
  const { idleMs: _idleMs, ...waiting } = options;
  return callResultOf(await request('tasks/result', task, {}, waiting), label);
}

/** @throws ProtocolError for a task that failed; E3109 for one that its server cancelled */
function endOf({ status, result, error, statusMessage }: RawResult, label: string): UpstreamCallResult {
  if (status === 'completed' && isObject(result)) return callResultOf(result, label);
  if (status === 'failed') {
    const { code, message, data } = isObject(error) ? error : {};
    const text = typeof message === 'string' ? message : String(statusMessage ?? 'the task failed');
    throw new ProtocolError(typeof code === 'number' ? code : INTERNAL_ERROR, text, data);
  }
  if (status !== 'cancelled') throw broken(label, 'completed a task without a result');
  throw new ToolLayerError('E3109', `The upstream '${label}' cancelled its task.`, { details: { reached: true } });
}

/** Answers are given once: the server may take them in later. */
async function answer(
  { mux, label, request }: TaskServer,
  task: ServerTask,
  { inputRequests }: RawResult,
  answered: Set<string>,
  options: RequestOptions,
): Promise<void> {
  const given = isObject(inputRequests) ? Object.entries(inputRequests).filter(([key]) => !answered.has(key)) : [];
  const open = questionsIn(mux, label, Object.fromEntries(given));
  if (open.length === 0) return;
  for (const { key } of open) answered.add(key);
  const until = options.signal ?? new AbortController().signal;
  const inputResponses = await answersTo(mux, label, open, options.asker, until);
  if (until.aborted) throw until.reason;
  await request('tasks/update', task, { inputResponses }, lookOptions(options));
}

function pauseOf({ pollIntervalMs, pollInterval }: RawResult): number {
  const wished = Number(pollIntervalMs ?? pollInterval ?? PAUSE_MS.default);
  return Number.isFinite(wished) ? Math.min(Math.max(wished, PAUSE_MS.min), PAUSE_MS.max) : PAUSE_MS.default;
}

const broken = (label: string, what: string): ToolLayerError =>
  new ToolLayerError('E3308', `The upstream '${label}' ${what}.`, { details: { reached: true } });
