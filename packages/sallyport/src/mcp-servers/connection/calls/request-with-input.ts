import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type ClientAnswer, kindOfMethod, type QuestionKind } from '../../../domain/questions/client-question.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { LinkCallOptions } from '../link.ts';
import type { Multiplexer } from '../multiplexer.ts';
import type { RawResult, RequestOptions } from '../request-table.ts';

/** Limits on the input that a server of protocol 2026-07-28 may request before its result. */
const INPUT_BOUNDS = {
  /** Most repetitions of one request. */
  roundsMax: 10,
  /** Most questions in one round. */
  questionsMax: 16,
  /** Longest name of a question. */
  keyCharsMax: 256,
  /** Pause before repeating a request for which nobody was asked, ms; doubles each round. */
  firstPauseMs: 100,
} as const;

type Members = Readonly<Record<string, unknown>>;

/**
 * Sends a request that the server may answer by asking for input first (2026-07-28, `input_required`): `tools/call`,
 * `prompts/get` or `resources/read`. It is then repeated with the answers of the client, within the time limit of the
 * one request.
 * @throws whatever `Multiplexer.request` throws; E3308 when the server asks for something that the layer cannot give,
 *   or asks without end; E3821 when the client gave no answer
 */
export async function requestWithInput(
  mux: Multiplexer,
  label: string,
  method: string,
  params: Members,
  { beforeAgain, ...options }: LinkCallOptions,
): Promise<RawResult> {
  const startedAt = performance.now();
  const result = await mux.request(method, params, options);
  if (result['resultType'] !== 'input_required') return result;

  const rest = (): RequestOptions => {
    if (options.timeoutMs === undefined) return options;
    return { ...options, timeoutMs: Math.max(1, options.timeoutMs - (performance.now() - startedAt)) };
  };
  let asked: RawResult = result;
  for (let round = 0; round < INPUT_BOUNDS.roundsMax; round += 1) {
    const input = await inputFor(mux, label, asked, rest(), round);
    await beforeAgain?.();
    asked = await mux.request(method, { ...params, ...input }, rest());
    if (asked['resultType'] !== 'input_required') return asked;
  }
  throw unanswerable(label, `asked for input more than ${INPUT_BOUNDS.roundsMax} times in one call`);
}

/** Members that the next round sends beside the request's own parameters. */
async function inputFor(
  mux: Multiplexer,
  label: string,
  asked: RawResult,
  { signal, timeoutMs, asker }: RequestOptions,
  round: number,
): Promise<Members> {
  const { inputRequests, requestState } = asked;
  const state = typeof requestState === 'string' ? { requestState } : {};
  const questions = questionsIn(mux, label, inputRequests);
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
 * Answers of the client of a call to a server's questions, by key.
 * @throws ToolLayerError E3821 when the client gave no answer
 */
export async function answersTo(
  mux: Multiplexer,
  label: string,
  questions: readonly NamedQuestion[],
  asker: RequestOptions['asker'],
  until: AbortSignal,
): Promise<Members> {
  const askers = { running: asker === undefined ? [] : [asker], gone: [], ended: [] };
  const answers = questions.map(async (question) => {
    const answer = await mux.questions.ask(question, askers, until);
    return [question.key, until.aborted ? answer : responseOf(label, question.kind, answer, asker?.can)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

/** A question of a server, with the server's own name for it. */
interface NamedQuestion {
  readonly key: string;
  readonly kind: QuestionKind;
  readonly params: unknown;
}

/** The questions that a server asks at once. @throws ToolLayerError E3308 for too many, and for what it may not ask */
export function questionsIn(mux: Multiplexer, label: string, requests: unknown): readonly NamedQuestion[] {
  const given = isObject(requests) ? Object.entries(requests) : [];
  if (given.length > INPUT_BOUNDS.questionsMax) throw unanswerable(label, 'asks for too much input at once');
  return given.map(([key, request]) => {
    const { method, params } = isObject(request) ? request : {};
    const kind = kindOfMethod(method);
    if (kind === undefined || key.length > INPUT_BOUNDS.keyCharsMax)
      throw unanswerable(label, 'asks for more than a client can answer');
    // An elicitation has an answer of its own for "nobody was asked".
    if (kind !== 'elicitation' && !mux.questions.allows(kind))
      throw unanswerable(label, `asks for ${kind}, which its operator does not allow`);
    return { key, kind, params };
  });
}

/** What the server gets. Only an elicitation has an answer of its own for "nobody was asked". */
function responseOf(label: string, kind: QuestionKind, answer: ClientAnswer, can: Members | undefined): Members {
  if ('result' in answer) return answer.result;
  if (kind === 'elicitation') return { action: 'cancel' };
  const why = 'unasked' in answer ? answer.unasked : answer.ended;
  const lacks = can?.[kind] === undefined ? { required_capabilities: { [kind]: {} } } : {};
  throw new ToolLayerError('E3821', `The upstream '${label}' asked the client for ${kind} and got no answer: ${why}.`, {
    details: { reached: true, ...lacks },
  });
}

/** After the call has ended, no next round begins. */
function endedOr(until: AbortSignal, signal: AbortSignal | undefined, label: string, input: Members): Members {
  if (signal?.aborted === true) throw signal.reason;
  if (!until.aborted) return input;
  throw new ToolLayerError('E3103', `The upstream '${label}' waited for input until the time of the call was over.`, {
    details: { reached: true },
  });
}

function unanswerable(label: string, what: string): ToolLayerError {
  return new ToolLayerError('E3308', `The upstream '${label}' ${what}.`, { details: { reached: true } });
}
