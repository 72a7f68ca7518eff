import { randomUUID } from 'node:crypto';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ownerKey } from '../../../domain/invocation/call-owner.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Params } from '../../json-rpc.ts';
import type { AskClient, Peer } from '../../mcp-server.ts';
import type { AskedFor, Settled } from '../confirmation/confirming.ts';
import { confirmerOf } from '../confirmation/decide.ts';
import { callDigest } from '../confirmation/waiting-calls.ts';
import type { McpSettings } from '../settings.ts';

/** Prefix of the state of a suspended call; the rest is known to this instance alone. */
const STATE_PREFIX = 'question.';
/** Most waiting questions of one call. */
const QUESTIONS_MAX = 16;

/**
 * Calls of 2026-era clients whose upstream asks a question midway. The call keeps running while its client is answered
 * with the question; the client's next request brings the answer and waits for the call's end.
 */
export interface SuspendedCalls {
  /** Settles a call; `settle` receives a client that can be asked while the call runs. */
  run(call: AskedFor, settle: (call: AskedFor) => Promise<Settled>): Promise<Settled>;
  /**
   * Handles a request that brings answers to such questions; undefined for any other request.
   * @throws ToolLayerError E3801 for a state that is over, or was not issued to this holder for this request
   */
  answered(call: AskedFor): Promise<Settled> | undefined;
}

/** Dependencies of the suspended calls. */
export interface SuspendedCallParts {
  readonly layer: ToolLayer;
  readonly settings: Pick<McpSettings, 'confirmationWaitMs' | 'waitingCallsMax'>;
}

interface Question {
  readonly request: Params;
  take(said: unknown): void;
  drop(): void;
}

/** One running call, with or without a request that waits for it. */
interface Suspended {
  readonly state: string;
  readonly end: Promise<Settled>;
  readonly cancel: AbortController;
  readonly questions: Map<string, Question>;
  /** Resolves when a question is asked. */
  asked: PromiseWithResolvers<void>;
  /** The request that waits for the call now. */
  attached: Peer | undefined;
  /** The holder and the call that were asked about; set with the first question. */
  holder: string;
  call: string;
  /** Timer that ends the wait for the client's return. */
  away: NodeJS.Timeout | undefined;
  isOver: boolean;
}

/** Makes the registry, empty. */
export function createSuspendedCalls({ layer, settings }: SuspendedCallParts): SuspendedCalls {
  const open = new Map<string, Suspended>();

  /** Waits for the end of the call or for its next question, whichever comes first. */
  const follow = async (suspended: Suspended, { peer, input }: AskedFor): Promise<Settled> => {
    const { cancel, end, questions, state } = suspended;
    const onGone = (): void => cancel.abort(peer.signal.reason);
    suspended.attached = peer;
    peer.signal.addEventListener('abort', onGone, { once: true });
    if (peer.signal.aborted) onGone();
    try {
      if (questions.size === 0) await Promise.race([end, suspended.asked.promise]);
      if (suspended.isOver || questions.size === 0) return await end;
      suspended.holder ||= ownerKey(await confirmerOf(layer, peer));
      suspended.call ||= callDigest(input);
      open.set(state, suspended);
      suspended.away = setTimeout(() => leave(suspended), settings.confirmationWaitMs).unref();
      const asked = [...questions].map(([key, { request }]) => [key, request] as const);
      return { inputRequests: Object.fromEntries(asked), requestState: state };
    } finally {
      peer.signal.removeEventListener('abort', onGone);
      suspended.attached = undefined;
      if (suspended.isOver) open.delete(state);
    }
  };

  /** The client did not come back: questions stay unanswered, and the call runs to its recorded end. */
  const leave = (suspended: Suspended): void => {
    open.delete(suspended.state);
    for (const question of [...suspended.questions.values()]) question.drop();
  };

  const goOn = async (state: string, call: AskedFor): Promise<Settled> => {
    const holder = ownerKey(await confirmerOf(layer, call.peer));
    const suspended = open.get(state);
    const isTheirs = suspended?.holder === holder && suspended.call === callDigest(call.input);
    if (suspended === undefined || !isTheirs || suspended.attached !== undefined) throw notGiven();
    clearTimeout(suspended.away);
    const { inputResponses } = call.params;
    const answers = isObject(inputResponses) ? inputResponses : {};
    suspended.asked = Promise.withResolvers();
    for (const [key, question] of [...suspended.questions])
      if (Object.hasOwn(answers, key)) question.take(answers[key]);
    return follow(suspended, call);
  };

  return {
    run: (call, settle) => {
      const { era, can } = call.peer;
      // Fast path: a client that is asked in another way, or cannot be asked.
      if (era !== 'modern' || can?.['elicitation'] === undefined || open.size >= settings.waitingCallsMax)
        return settle(call);
      return follow(suspend(call, settle, open), call);
    },
    answered: (call) => {
      const { requestState } = call.params;
      const isState = typeof requestState === 'string' && requestState.startsWith(STATE_PREFIX);
      return isState && call.peer.era === 'modern' ? goOn(requestState, call) : undefined;
    },
  };
}

/** Starts a call that outlives the request that asked for it. */
function suspend(
  call: AskedFor,
  settle: (call: AskedFor) => Promise<Settled>,
  open: ReadonlyMap<string, Suspended>,
): Suspended {
  const cancel = new AbortController();
  const { promise: end, resolve, reject } = Promise.withResolvers<Settled>();
  const suspended: Suspended = {
    state: `${STATE_PREFIX}${randomUUID()}`,
    end,
    cancel,
    questions: new Map(),
    asked: Promise.withResolvers(),
    attached: call.peer,
    holder: '',
    call: '',
    away: undefined,
    isOver: false,
  };
  const ask: AskClient = (method, params, signal) => {
    const isReachable = suspended.attached !== undefined || open.has(suspended.state);
    if (!isReachable || signal.aborted) return Promise.reject(new Error('The client is gone.'));
    return askIn(suspended, { method, params }, signal);
  };
  const notify = (text: string): void => suspended.attached?.notify(text);
  const over = (): void => {
    suspended.isOver = true;
  };
  end.then(over, over);
  settle({ ...call, peer: { ...call.peer, signal: cancel.signal, ask, notify } }).then(resolve, reject);
  return suspended;
}

function askIn({ questions, asked }: Suspended, request: Params, signal: AbortSignal): Promise<unknown> {
  if (questions.size >= QUESTIONS_MAX)
    return Promise.reject(new Error(`The client has ${QUESTIONS_MAX} questions to answer already.`));
  const key = `question-${randomUUID()}`;
  return new Promise((resolve, reject) => {
    const drop = (): void => {
      if (questions.delete(key)) reject(new Error('The wait for the client is over.'));
    };
    signal.addEventListener('abort', drop, { once: true });
    const take = (said: unknown): void => {
      questions.delete(key);
      signal.removeEventListener('abort', drop);
      resolve(said);
    };
    questions.set(key, { request, take, drop });
    asked.resolve();
  });
}

const notGiven = (): ToolLayerError =>
  new ToolLayerError(
    'E3801',
    'The requestState was not given for this call, or its question is over. Look at the record of the call before you call again.',
  );
