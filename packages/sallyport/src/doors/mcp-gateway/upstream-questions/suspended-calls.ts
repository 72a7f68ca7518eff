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

/** How the state of such a call begins; what follows is known to this instance alone. */
const STATE_PREFIX = 'question.';
/** Questions of one call that wait. */
const QUESTIONS_MAX = 16;

/**
 * Calls of clients of the 2026 era whose upstream asks something in the middle. The call runs on while its client is answered
 * with the question, and the client's next request, which brings the answer, waits for its end.
 */
export interface SuspendedCalls {
  /** Settles a call; `settle` gets it with a client that can be asked while it runs. */
  run(call: AskedFor, settle: (call: AskedFor) => Promise<Settled>): Promise<Settled>;
  /**
   * A request that brings answers to such questions; undefined for any other one.
   * @throws ToolLayerError E3801 for a state that was not given to this holder, for this request, or is over
   */
  answered(call: AskedFor): Promise<Settled> | undefined;
}

/** What it stands on. */
export interface SuspendedCallParts {
  readonly layer: ToolLayer;
  readonly settings: Pick<McpSettings, 'confirmationWaitMs' | 'waitingCallsMax'>;
}

interface Question {
  readonly request: Params;
  take(said: unknown): void;
  drop(): void;
}

/** One call that runs, with or without a request that waits for it. */
interface Suspended {
  readonly state: string;
  readonly end: Promise<Settled>;
  readonly cancel: AbortController;
  readonly questions: Map<string, Question>;
  /** Resolves when something is asked. */
  asked: PromiseWithResolvers<void>;
  /** The request that waits for it now. */
  attached: Peer | undefined;
  /** For whom it was asked, and for which call; set with the first question. */
  holder: string;
  call: string;
  /** Ends the wait for its client. */
  away: NodeJS.Timeout | undefined;
  isOver: boolean;
}

/** Nothing is suspended yet. */
export function createSuspendedCalls({ layer, settings }: SuspendedCallParts): SuspendedCalls {
  const open = new Map<string, Suspended>();

  /** Waits for the end of the call or its next question, whichever comes first. */
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

  /** Its client did not come back: nobody answers any more, and the call goes on to its end on record. */
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
      // The common case first: a client that is asked in another way, or not at all.
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

/** Begins a call that does not end with the request that asked for it. */
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
    const isHeard = suspended.attached !== undefined || open.has(suspended.state);
    if (!isHeard || signal.aborted) return Promise.reject(new Error('The client is gone.'));
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
