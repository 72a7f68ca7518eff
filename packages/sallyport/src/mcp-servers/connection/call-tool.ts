import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../domain/shape/is-object.ts';
import { isServerMethod, type ServerMethod } from '../../domain/tool/server-methods.ts';
import { callResultOf, completeResult } from './call-result.ts';
import type { LinkCallOptions, UpstreamCallResult } from './link.ts';
import type { Multiplexer } from './multiplexer.ts';
import type { RawResult, RequestOptions } from './request-table.ts';

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
 * Calls a tool, or makes the request that a tool of the layer's own is for. When the server first asks for input (2026-07-28, `input_required`), the call is repeated with people's
 * answers, within the time limit of the one call.
 * @throws whatever `Multiplexer.request` throws; E3308 when the server asks for something that the layer cannot give,
 *   or asks without end
 */
export async function callTool(
  mux: Multiplexer,
  label: string,
  tool: string,
  args: Arguments,
  { beforeAgain, ...options }: LinkCallOptions,
): Promise<UpstreamCallResult> {
  const startedAt = performance.now();
  const { method, params, resultOf } = isServerMethod(tool) ? requestOf(tool, args) : callOf(tool, args);
  const result = await mux.request(method, params, options);
  if (result['resultType'] !== 'input_required') return resultOf(result, label);

  const rest = (): RequestOptions => {
    if (options.timeoutMs === undefined) return options;
    return { ...options, timeoutMs: Math.max(1, options.timeoutMs - (performance.now() - startedAt)) };
  };
  let asked: RawResult = result;
  for (let round = 0; round < INPUT_BOUNDS.roundsMax; round += 1) {
    const input = await inputFor(mux, label, asked, rest(), round);
    await beforeAgain?.();
    asked = await mux.request(method, { ...params, ...input }, rest());
    if (asked['resultType'] !== 'input_required') return resultOf(asked, label);
  }
  throw unanswerable(label, `asked for input more than ${INPUT_BOUNDS.roundsMax} times in one call`);
}

const callOf = (tool: string, args: Arguments) => ({
  method: 'tools/call',
  params: { name: tool, arguments: args },
  resultOf: callResultOf,
});
const requestOf = (method: ServerMethod, params: Arguments) => ({ method, params, resultOf: completeResult });

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
  if (questions.length > INPUT_BOUNDS.questionsMax) throw unanswerable(label, 'asks for too much input at once');
  const ending = [...(signal === undefined ? [] : [signal])];
  if (timeoutMs !== undefined) ending.push(AbortSignal.timeout(Math.ceil(timeoutMs)));
  const until = AbortSignal.any(ending);
  if (questions.length === 0) {
    await sleep(INPUT_BOUNDS.firstPauseMs * 2 ** round, undefined, { signal: until }).catch(() => {});
    return endedOr(until, signal, label, state);
  }
  const askers = { running: asker === undefined ? [] : [asker], gone: [] };
  const answers = questions.map(async ([key, request]) => {
    const method = isObject(request) ? request['method'] : undefined;
    if (method !== 'elicitation/create') throw unanswerable(label, 'asks for more than a person can answer');
    const params = (request as Arguments)['params'];
    return [key, await mux.questions.ask(params, askers, until)] as const;
  });
  const inputResponses = Object.fromEntries(await Promise.all(answers));
  return endedOr(until, signal, label, { inputResponses, ...state });
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
