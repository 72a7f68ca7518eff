import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ownerKey } from '../../../domain/invocation/call-owner.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Params } from '../../json-rpc.ts';
import type { AskClient, Peer } from '../../mcp-server.ts';
import { confirmerOf } from '../confirmation/decide.ts';
import type { McpSettings } from '../settings.ts';
import { canBeAsked } from './client-asker.ts';

/** Prefix of the state of a suspended request; the rest is known to this instance alone. */
const STATE_PREFIX = 'question.';
/** Most waiting questions of one request. */
const QUESTIONS_MAX = 16;
/** Turns of the event loop in which questions that are asked at once come together in one answer. */
const TURNS_TOGETHER = 2;

/** A request of a client, with what its state is bound to. */
export interface SuspendableRequest {
  readonly peer: Peer;
  /** Its parameters; a client adds `inputResponses` and `requestState` when it repeats the request. */
  readonly params: Params;
  /** Digest of the method and of everything that the request asks for. */
  digest(): string;
}

/** What a client of 2026-07-28 must answer before it gets the result of its request. */
export interface InputRequired {
  readonly inputRequests: Params;
  readonly requestState: string;
}

/**
 * Work on a request. @param peer a client that can be asked while the work lasts @param latest parameters of the
 * request that waits for the work now: its `_meta` says where progress and log messages go
 */
export type Work<Result> = (peer: Peer, latest: () => Params) => Promise<Result>;

/**
 * Requests of 2026-era clients whose tool or upstream asks something midway (multi-round requests). The work continues
 * while its client is answered with the questions; the client's next request brings the answers and waits for the end.
 */
export interface SuspendedRequests {
  /** Does the work for a request. Answers that the request brings already are given to the questions of their keys. */
  run<Result>(request: SuspendableRequest, work: Work<Result>): Promise<Result | InputRequired>;
  /**
   * Handles a request that brings answers to such questions; undefined for any other request.
   * @throws ToolLayerError E3801 for a state that is over, or was not issued to this holder for this request
   */
  answered<Result>(request: SuspendableRequest): Promise<Result | InputRequired> | undefined;
}

/** Dependencies of the suspended requests. */
export interface SuspendedRequestParts {
  readonly layer: ToolLayer;
  readonly settings: Pick<McpSettings, 'confirmationWaitMs' | 'waitingCallsMax'>;
}

interface Question {
  readonly request: Params;
  take(said: Params): void;
  drop(): void;
}

/** Work under way, with or without a request that waits for it. */
interface Suspended {
  readonly end: Promise<unknown>;
  readonly cancel: AbortController;
  readonly questions: Map<string, Question>;
  /** Answers that came before their questions, by key. */
  readonly early: Map<string, Params>;
  /** The state that the client was given last; another one each time. */
  state: string;
  /** Resolves when a question is asked. */
  asked: PromiseWithResolvers<void>;
  /** The request that waits for the work now. */
  attached: SuspendableRequest | undefined;
  latest: Params;
  /** The holder and the request that were asked about; set with the first question. */
  holder: string;
  digest: string;
  /** Timer that ends the wait for the client's return. */
  away: NodeJS.Timeout | undefined;
  isOver: boolean;
}

/** Makes the registry, empty. */
export function createSuspendedRequests({ layer, settings }: SuspendedRequestParts): SuspendedRequests {
  const open = new Map<string, Suspended>();

  /** Waits for the end of the work or for its next questions, whichever comes first. */
  const follow = async (suspended: Suspended, request: SuspendableRequest): Promise<unknown> => {
    const { peer } = request;
    const { cancel, end, questions } = suspended;
    const onGone = (): void => cancel.abort(peer.signal.reason);
    suspended.attached = request;
    suspended.latest = request.params;
    peer.signal.addEventListener('abort', onGone, { once: true });
    if (peer.signal.aborted) onGone();
    try {
      if (questions.size === 0) await Promise.race([end, suspended.asked.promise]);
      for (let turn = 0; turn < TURNS_TOGETHER && !suspended.isOver; turn += 1) await nextTurn();
      if (suspended.isOver || questions.size === 0) return await end;
      suspended.holder ||= ownerKey(await confirmerOf(layer, peer));
      suspended.digest ||= request.digest();
      suspended.state = `${STATE_PREFIX}${randomUUID()}`;
      open.set(suspended.state, suspended);
      suspended.away = setTimeout(() => leave(suspended), settings.confirmationWaitMs).unref();
      const asked = [...questions].map(([key, question]) => [key, question.request] as const);
      return { inputRequests: Object.fromEntries(asked), requestState: suspended.state };
    } finally {
      peer.signal.removeEventListener('abort', onGone);
      suspended.attached = undefined;
      if (suspended.isOver) open.delete(suspended.state);
    }
  };

  /** The client did not come back: questions stay unanswered, and the work runs to its recorded end. */
  const leave = (suspended: Suspended): void => {
    open.delete(suspended.state);
    for (const question of [...suspended.questions.values()]) question.drop();
  };

  const goOn = async (state: string, request: SuspendableRequest): Promise<unknown> => {
    const holder = ownerKey(await confirmerOf(layer, request.peer));
    const suspended = open.get(state);
    if (suspended?.holder !== holder || suspended.digest !== request.digest()) throw notGiven();
    const responses = responsesIn(request.params);
    // A state is good for one request: the next round has another.
    open.delete(state);
    clearTimeout(suspended.away);
    suspended.asked = Promise.withResolvers();
    for (const [key, said] of responses) suspended.questions.get(key)?.take(said);
    return follow(suspended, request);
  };

  return {
    run: async <Result>(request: SuspendableRequest, work: Work<Result>) => {
      const { peer, params } = request;
      // Fast path: a client that is asked in another way, or cannot be asked.
      if (peer.era !== 'modern' || !canBeAsked(peer) || open.size >= settings.waitingCallsMax)
        return work(peer, () => params);
      return (await follow(suspend(request, work, open), request)) as Result | InputRequired;
    },
    answered: <Result>(request: SuspendableRequest) => {
      const { requestState } = request.params;
      const isState = typeof requestState === 'string' && requestState.startsWith(STATE_PREFIX);
      if (!isState || request.peer.era !== 'modern') return undefined;
      return goOn(requestState, request) as Promise<Result | InputRequired>;
    },
  };
}

/** Starts work that outlives the request that asked for it. */
function suspend<Result>(
  request: SuspendableRequest,
  work: Work<Result>,
  open: ReadonlyMap<string, Suspended>,
): Suspended {
  const cancel = new AbortController();
  const { promise: end, resolve, reject } = Promise.withResolvers<unknown>();
  const { params, peer } = request;
  const suspended: Suspended = {
    end,
    cancel,
    questions: new Map(),
    early: new Map(params['requestState'] === undefined ? responsesIn(params) : []),
    state: '',
    asked: Promise.withResolvers(),
    attached: request,
    latest: params,
    holder: '',
    digest: '',
    away: undefined,
    isOver: false,
  };
  const ask: AskClient = (method, asked, signal, key) => {
    const isReachable = suspended.attached !== undefined || open.has(suspended.state);
    if (!isReachable || signal.aborted) return Promise.reject(new Error('The client is gone.'));
    return askIn(suspended, { method, params: asked }, signal, key);
  };
  const notify = (text: string): void => suspended.attached?.peer.notify(text);
  const over = (): void => {
    suspended.isOver = true;
  };
  end.then(over, over);
  work({ ...peer, signal: cancel.signal, ask, notify }, () => suspended.latest).then(resolve, reject);
  return suspended;
}

function askIn(
  { questions, early, asked }: Suspended,
  request: Params,
  signal: AbortSignal,
  named: string | undefined,
): Promise<unknown> {
  if (questions.size >= QUESTIONS_MAX)
    return Promise.reject(new Error(`The client has ${QUESTIONS_MAX} questions to answer already.`));
  const key = named === undefined || questions.has(named) ? `question-${randomUUID()}` : named;
  const given = early.get(key);
  if (given !== undefined) {
    early.delete(key);
    return Promise.resolve(given);
  }
  return new Promise((resolve, reject) => {
    const drop = (): void => {
      if (questions.delete(key)) reject(new Error('The wait for the client is over.'));
    };
    signal.addEventListener('abort', drop, { once: true });
    const take = (said: Params): void => {
      questions.delete(key);
      signal.removeEventListener('abort', drop);
      resolve(said);
    };
    questions.set(key, { request, take, drop });
    asked.resolve();
  });
}

/**
 * The answers that a request brings. One that is no object is as if it was missing: the client is asked again.
 * @throws ToolLayerError E3801 for answers that are no map
 */
function responsesIn({ inputResponses }: Params): (readonly [string, Params])[] {
  if (inputResponses === undefined) return [];
  if (!isObject(inputResponses)) throw badParameter('inputResponses', 'The member inputResponses must be an object.');
  return Object.entries(inputResponses).flatMap(([key, said]) => (isObject(said) ? [[key, said] as const] : []));
}

const notGiven = (): ToolLayerError =>
  badParameter(
    'requestState',
    'The requestState was not given for this request, or its question is over. Look at the record of the call before you call again.',
  );

/** A fault of the client itself: no model wrote these members. */
function badParameter(parameter: string, message: string): ToolLayerError {
  return new ToolLayerError('E3801', message, { details: { parameter } });
}
