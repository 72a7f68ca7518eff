import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../domain/shape/is-object.ts';
import type { LinkCallOptions, UpstreamCallResult } from './link.ts';
import type { Multiplexer } from './multiplexer.ts';
import type { RawResult, RequestOptions } from './request-table.ts';
import { inTaskForm, resultOrTask } from './tasks/start-task.ts';
import type { TaskForm } from './tasks/task-form.ts';

/** Limits on the input that a server of protocol 2026-07-28 may request before its result. */
const INPUT_BOUNDS = {
  /** Most repetitions of one call. */
  roundsMax: 10,
  /** Most questions in one round. */
  questionsMax: 16,
  /** Pause before repeating a call for which nobody was asked, ms; doubles each round. */
  firstPauseMs: 100,
} as const;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Calls a tool. When the server first asks for input (2026-07-28, `input_required`), the call is repeated with people's
 * answers, within the time limit of the one call.
 * @throws whatever `Multiplexer.request` throws; E3308 when the server asks for something that the layer cannot give,
 *   or asks without end
 */
export async function callTool(
  mux: Multiplexer,
  label: string,
  tool: string,
  args: Arguments,
  { beforeAgain, asTask, ...given }: LinkCallOptions,
  form?: TaskForm,
): Promise<UpstreamCallResult> {
  const startedAt = performance.now();
  const { params, options } = inTaskForm({ name: tool, arguments: args }, given, asTask, form);
  const result = await mux.request('tools/call', params, options);
  if (result['resultType'] !== 'input_required') return resultOrTask(result, label, asTask, form);

  const rest = (): RequestOptions => {
    if (options.timeoutMs === undefined) return options;
    return { ...options, timeoutMs: Math.max(1, options.timeoutMs - (performance.now() - startedAt)) };
  };
  let asked: RawResult = result;
  for (let round = 0; round < INPUT_BOUNDS.roundsMax; round += 1) {
    const input = await inputFor(mux, label, asked, rest(), round);
    await beforeAgain?.();
    asked = await mux.request('tools/call', { ...params, ...input }, rest());
    if (asked['resultType'] !== 'input_required') return resultOrTask(asked, label, asTask, form);
  }
  throw unanswerable(label, `asked for input more than ${INPUT_BOUNDS.roundsMax} times in one call`);
}

/** Members that the next round sends beside the call's own parameters. */
async function inputFor(
  mux: Multiplexer,
  label: string,
  asked: RawResult,
  { signal, timeoutMs, asker }: RequestOptions,
  round: number,
): Promise<Arguments> {
  const { inputRequests, requestState } = asked;
  const state = typeof requestState === 'string' ? { requestState } : {};
  const questions = isObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (questions.length === 0 && typeof requestState !== 'string') {
    throw unanswerable(label, 'asks for input without saying which');
  }
  const ending = [...(signal === undefined ? [] : [signal])];
  if (timeoutMs !== undefined) ending.push(AbortSignal.timeout(Math.ceil(timeoutMs)));
  const until = AbortSignal.any(ending);
  if (questions.length === 0) {
    await sleep(INPUT_BOUNDS.firstPauseMs * 2 ** round, undefined, { signal: until }).catch(() => {});
    return endedOr(until, signal, label, state);
  }
  const inputResponses = await answersTo(mux, label, questions, asker, until);
  return endedOr(until, signal, label, { inputResponses, ...state });
}

/**
 * Answers of people to a server's questions, by key.
 * @throws E3308 when there are too many, or one that nobody can answer
 */
export async function answersTo(
  mux: Multiplexer,
  label: string,
  questions: readonly (readonly [string, unknown])[],
  asker: RequestOptions['asker'],
  until: AbortSignal,
): Promise<Arguments> {
  if (questions.length > INPUT_BOUNDS.questionsMax) throw unanswerable(label, 'asks for too much input at once');
  const askers = { running: asker === undefined ? [] : [asker], gone: [] };
  const answers = questions.map(async ([key, request]) => {
    const method = isObject(request) ? request['method'] : undefined;
    if (method !== 'elicitation/create') throw unanswerable(label, 'asks for more than a person can answer');
    const params = (request as Arguments)['params'];
    return [key, await mux.questions.ask(params, askers, until)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

/** After the call has ended, no next round begins. */
function endedOr(until: AbortSignal, signal: AbortSignal | undefined, label: string, input: Arguments): Arguments {
  if (signal?.aborted === true) throw signal.reason;
  if (!until.aborted) return input;
  throw new ToolLayerError('E3103', `The upstream '${label}' waited for input until the time of the call was over.`, {
    details: { reached: true },
  });
}

function unanswerable(label: string, what: string): ToolLayerError {
  return new ToolLayerError('E3308', `The upstream '${label}' ${what}.`, { details: { reached: true } });
}
