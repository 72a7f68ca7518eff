import {
  type Asked,
  type ClientAnswer,
  type ClientAsker,
  type ClientQuestion,
  QUESTION_KINDS,
  type QuestionKind,
} from '../../domain/questions/client-question.ts';
import { elicitationIdOf } from '../../domain/questions/elicitation-id.ts';
import { questionIn } from '../../domain/questions/read-question.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Asker, Askers } from './asker.ts';

/** Limits of the questions of one connection. */
export const OPEN_QUESTION_BOUNDS = {
  /** Most questions that wait for a client; one more is not asked. */
  openMax: 16,
  /** Most unasked questions logged one by one over the life of a connection; after that one in a hundred. */
  logged: 5,
  loggedEach: 100,
} as const;

/** The kinds of questions that an upstream may ask when its definition does not say. */
export const MAY_ASK_BY_DEFAULT: readonly QuestionKind[] = ['elicitation'];

type Members = Readonly<Record<string, unknown>>;

/** The asking server, and the receiver of its questions. */
export interface QuestionParts {
  readonly tenantId: string;
  readonly upstream: string;
  readonly log: Log;
  readonly clients: ClientAsker;
  /** What the operator allows this server to ask. */
  readonly mayAsk?: readonly QuestionKind[] | undefined;
}

/** One question of a server, as it came. */
export interface IncomingQuestion {
  readonly kind: QuestionKind;
  /** Parameters of its request. */
  readonly params: unknown;
  /** The server's name for it, where the protocol has one. */
  readonly key?: string;
}

/** Questions of one server to clients. */
export interface Questions {
  /** True when the server may ask this. */
  allows(kind: QuestionKind): boolean;
  /**
   * What is declared to the server as our capabilities.
   * @param can what the client of one call can be asked; absent: before it is known for which client the server asks
   */
  capabilities(can?: Members): Members;
  /**
   * Asks the one client whose call the question belongs to. Every other question is put to nobody; it is logged, and
   * the calls that it may belong to are notified. Never rejects.
   */
  ask(question: IncomingQuestion, askers: Askers, signal: AbortSignal): Promise<ClientAnswer>;
  /** The server says that a person is done at an address that it had opened. */
  completed(params: unknown): void;
}

/** Reason given when no waiting client can be asked. */
const NO_CLIENT = 'the call runs for no client that can show questions';
const SEVERAL_CLIENTS =
  'the server did not say for which call it asks, and it runs calls of several clients; from now on each client has a connection of its own, so call again';

/** Makes the questions of one connection. */
export function createQuestions(parts: QuestionParts): Questions {
  const { upstream, clients, mayAsk = MAY_ASK_BY_DEFAULT } = parts;
  const allowed = QUESTION_KINDS.filter((kind) => mayAsk.includes(kind));
  const author = { tenantId: parts.tenantId, upstream };
  const note = notifier(parts);
  const withId = (asked: Asked | string, params: unknown): Asked | string => {
    if (typeof asked === 'string' || asked.kind !== 'elicitation' || asked.mode !== 'url') return asked;
    return { ...asked, elicitationId: elicitationIdOf(author, ownId(params)) };
  };
  let open = 0;
  const putToClient = async (question: ClientQuestion, signal: AbortSignal) => {
    open += 1;
    try {
      return await orAborted(clients.ask(question, signal), signal);
    } catch (thrown) {
      if (!signal.aborted) parts.log.warn('upstream-question-failed', { upstream, error: String(thrown) });
      return { ended: 'the wait for the client is over' };
    } finally {
      open -= 1;
    }
  };
  return {
    allows: (kind) => allowed.includes(kind),
    capabilities: (can) =>
      Object.fromEntries(
        allowed.flatMap((kind) => {
          const stated = can === undefined ? UNKNOWN_CLIENT[kind] : can[kind];
          return stated === undefined ? [] : [[kind, stated]];
        }),
      ),
    async ask({ kind, params, key }, askers, signal) {
      const asker = oneOf(askers);
      const asked = withId(questionIn(kind, params), params);
      if (typeof asker === 'string') return note(asker, askers);
      if (!allowed.includes(kind)) return note(`the operator does not allow the server to ask for ${kind}`, askers);
      if (typeof asked === 'string') return note(asked, askers);
      if (open >= OPEN_QUESTION_BOUNDS.openMax) return note('too many questions wait already', askers);
      if (signal.aborted) return { ended: 'nobody waits for the answer' };
      const question = { ...questionOf(parts, asker, askers), asked, ...(key === undefined ? {} : { key }) };
      const answer = await putToClient(question, signal);
      return 'unasked' in answer ? note(answer.unasked, askers) : answer;
    },
    completed(params) {
      const id = ownId(params);
      if (typeof id === 'string') clients.completed(elicitationIdOf(author, id));
    },
  };
}

/** The server's own id of an address that it has opened. */
const ownId = (params: unknown): unknown => (isObject(params) ? params['elicitationId'] : undefined);

/** Declared when it is not yet known which client will be asked: the simplest form of each capability. */
const UNKNOWN_CLIENT: Readonly<Record<QuestionKind, Members>> = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
};

/** Logs a question that nobody was asked, and notifies the calls that it may belong to. */
function notifier({ log, upstream }: QuestionParts): (why: string, askers: Askers) => ClientAnswer {
  let unasked = 0;
  return (why, { running }) => {
    unasked += 1;
    if (unasked <= OPEN_QUESTION_BOUNDS.logged || unasked % OPEN_QUESTION_BOUNDS.loggedEach === 0) {
      // The question's text stays out of the log: a server may put anything there.
      const invocations = running.slice(0, 8).map(({ invocationId }) => invocationId);
      log.warn('upstream-question-unanswered', { upstream, why, invocations, unanswered: unasked });
    }
    for (const asker of running) asker.onUnasked?.(why);
    return { unasked: why };
  };
}

function questionOf({ tenantId, upstream }: QuestionParts, asker: Asker, { running }: Askers) {
  const invocationIds = running.map(({ invocationId }) => invocationId).reverse();
  const whileAsking: ClientQuestion['whileAsking'] = (ask) => asker.whileAsking?.(ask) ?? ask();
  return { tenantId, author: { kind: 'server' as const, name: upstream }, invocationIds, whileAsking };
}

/**
 * The newest call of the one client to ask, or the reason why there is none. An unknown owner is not guessed. A client
 * without sessions may have dropped an older call silently, and would not show the question.
 */
function oneOf({ running, gone }: Askers): Asker | string {
  const newest = running.at(-1);
  if (newest === undefined) return 'no call runs that it could belong to';
  const isTheirs = ({ client }: Asker): boolean => client === newest.client;
  if (!running.every(isTheirs) || !gone.every(isTheirs)) return SEVERAL_CLIENTS;
  return newest.client === undefined ? NO_CLIENT : newest;
}

/** A receiver that ignores its signal must not keep the connection waiting. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
