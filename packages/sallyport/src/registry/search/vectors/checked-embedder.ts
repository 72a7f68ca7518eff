import type { Clock } from '@sallyport/std/clock';
import type { Failure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { Log } from '../../../telemetry/log.ts';
import type { Embedder, EmbedderTraits } from '../../embedder.port.ts';
import { REFERENCE_PAIRS, traitsOf } from './measure-traits.ts';
import { unitVector } from './unit-vector.ts';

/** First pause after a failure; doubled by each further failure. */
const PAUSE_MS_MIN = 1000;
const PAUSE_MS_MAX = 60_000;
/** Longest wait for measuring an unknown model, in ms. */
const MEASURE_TIMEOUT_MS = 60_000;
/** Most plausible numbers in a vector. */
const DIMENSIONS_MAX = 8192;

/** An embedder with validated answers, which is paused when it fails. */
export interface CheckedEmbedder {
  readonly model: string;
  /** Time until it may be called again, in ms; 0 when now. */
  pauseMs(): number;
  /**
   * Traits of its vectors; an unknown model is measured once.
   * @throws ToolLayerError E3005
   */
  traits(): Promise<EmbedderTraits>;
  /**
   * One vector of norm 1 per text, of the length in the traits. Longer texts are cut, many are sent in batches.
   * @throws ToolLayerError E3005 when it pauses, fails, takes too long or returns an invalid vector
   */
  embed(texts: readonly string[], timeoutMs: number): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

/** True when the embedder answered with an invalid vector: other texts may work. */
export function isBadAnswer(error: unknown): boolean {
  return error instanceof ToolLayerError && error.failure.details?.['fault'] === 'answer';
}

/** Wraps an adapter. Closing it closes the adapter. */
export function checkedEmbedder(parts: {
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly log: Log;
}): CheckedEmbedder {
  const state: State = { ...parts, closing: new AbortController(), failures: 0, askAgainAt: 0, traits: undefined };
  let measuring: Promise<EmbedderTraits> | undefined;
  return {
    model: parts.embedder.model,
    pauseMs: () => Math.max(0, state.askAgainAt - parts.clock.monotonic()),
    async traits() {
      const known = parts.embedder.traits ?? state.traits;
      if (known !== undefined) return known;
      measuring ??= measure(state).finally(() => {
        measuring = undefined;
      });
      return measuring;
    },
    embed: (texts, timeoutMs) => embed(state, texts, timeoutMs),
    async close() {
      state.closing.abort(closed());
      await parts.embedder.close();
    },
  };
}

interface State {
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly log: Log;
  readonly closing: AbortController;
  failures: number;
  askAgainAt: number;
  trouble?: Failure | undefined;
  traits: EmbedderTraits | undefined;
}

async function measure(state: State): Promise<EmbedderTraits> {
  const texts = [...REFERENCE_PAIRS.map(([request]) => request), ...REFERENCE_PAIRS.map(([, tool]) => tool)];
  const traits = traitsOf(await embed(state, texts, MEASURE_TIMEOUT_MS));
  state.traits = traits;
  state.log.info('embedder-measured', { model: state.embedder.model, ...traits });
  return traits;
}

async function embed(state: State, texts: readonly string[], timeoutMs: number): Promise<readonly Float32Array[]> {
  const { embedder, clock, log, closing } = state;
  closing.signal.throwIfAborted();
  if (state.askAgainAt > clock.monotonic()) throw pausing(state);
  try {
    const answer = await askInTurns(embedder, texts, AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]));
    const vectors = checkedVectors(answer, texts.length, (embedder.traits ?? state.traits)?.dimensions);
    state.failures = 0;
    state.trouble = undefined;
    return vectors;
  } catch (cause) {
    if (closing.signal.aborted) throw closed();
    state.failures += 1;
    const pause = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (state.failures - 1));
    state.askAgainAt = clock.monotonic() + pause;
    const error = embedderError(cause, timeoutMs);
    state.trouble = error.failure;
    log.warn('embedder-failed', { model: embedder.model, reason: error.message, askedAgainInMs: pause });
    throw error;
  }
}

async function askInTurns(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const cut = texts.map((text) => text.slice(0, embedder.textCharactersMax).toWellFormed());
  const answers: Float32Array[] = [];
  for (let at = 0; at < cut.length; at += embedder.textsMax) {
    const part = cut.slice(at, at + embedder.textsMax);
    const answer = await orAborted(embedder.embed(part, signal), signal);
    if (answer.length !== part.length) throw badAnswer(`${answer.length} vectors for ${part.length} texts`);
    answers.push(...answer);
  }
  return answers;
}

/** An adapter that ignores the signal must not hold its caller. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function checkedVectors(
  answer: readonly Float32Array[],
  count: number,
  dimensions = answer[0]?.length ?? 0,
): readonly Float32Array[] {
  if (answer.length !== count) throw badAnswer(`${answer.length} vectors for ${count} texts`);
  if (count > 0 && !(dimensions > 0 && dimensions <= DIMENSIONS_MAX))
    throw badAnswer(`vectors of ${dimensions} numbers; 1 to ${DIMENSIONS_MAX} are possible`);
  return answer.map((vector) => {
    if (vector.length !== dimensions)
      throw badAnswer(`a vector of ${vector.length} numbers where ${dimensions} were expected`);
    const unit = unitVector(vector);
    if (unit === undefined) throw badAnswer('a vector that is zero or holds what is no number');
    return unit;
  });
}

const badAnswer = (what: string): ToolLayerError =>
  new ToolLayerError('E3005', `The embedder answered with ${what}. Check which model it runs.`, {
    details: { fault: 'answer' },
  });

const closed = (): ToolLayerError => new ToolLayerError('E3005', 'The layer is being closed.');

/** Without the details of the last failure: a pause is not an invalid answer to the waiting texts. */
const pausing = ({ askAgainAt, clock, trouble }: State): ToolLayerError =>
  new ToolLayerError('E3005', trouble?.message ?? 'The embedder failed a moment ago.', {
    retryAfterMs: Math.max(1, askAgainAt - clock.monotonic()),
  });

function embedderError(cause: unknown, timeoutMs: number): ToolLayerError {
  if (cause instanceof ToolLayerError) return cause;
  if (cause instanceof DOMException && cause.name === 'TimeoutError')
    return new ToolLayerError('E3005', `The embedder did not answer within ${timeoutMs} ms.`, { cause });
  return new ToolLayerError('E3005', 'The embedder failed. The operator finds the cause in the log.', { cause });
}
