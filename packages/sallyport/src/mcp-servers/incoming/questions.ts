import { isObject } from '../../domain/shape/is-object.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ElicitationAnswer, ElicitationAsker, ElicitationRequest } from '../elicitation.port.ts';
import type { Asker, Askers } from './asker.ts';

/** Limits of the questions of one connection. */
export const QUESTION_BOUNDS = {
  /** Most questions that wait for a person; one more is cancelled at once. */
  openMax: 16,
  messageCharsMax: 4_000,
  urlCharsMax: 4_000,
  /** A schema longer than this as JSON is not a form for a person. */
  schemaCharsMax: 16_000,
  /** Most unshown questions logged one by one over the life of a connection; after that one in a hundred. */
  logged: 5,
  loggedEach: 100,
} as const;

/** The asking server, and the receiver of its questions. */
export interface QuestionParts {
  readonly tenantId: string;
  readonly upstream: string;
  readonly log: Log;
  /** Absent: every question is cancelled. */
  readonly desk?: ElicitationAsker | undefined;
}

/** Questions of one server to people. */
export interface Questions {
  /** True when somebody can be asked. */
  readonly deskStands: boolean;
  /**
   * Asks the user of the one client whose call the question belongs to. Every other question is shown to nobody and
   * answered with `cancel`; it is logged, and the calls that it may belong to are notified. Never rejects.
   */
  ask(params: unknown, askers: Askers, signal: AbortSignal): Promise<ElicitationAnswer>;
}

/** Reason given when no waiting client can show a question. */
const NO_CLIENT = 'the call runs for no client that can show questions';
const SEVERAL_CLIENTS =
  'the server did not say for which call it asks, and it runs calls of several clients; from now on each client has a connection of its own, so call again';

/** Makes the questions of one connection. */
export function createQuestions({ tenantId, upstream, log, desk }: QuestionParts): Questions {
  let open = 0;
  let unasked = 0;
  const cancel = (why: string, { running }: Askers): ElicitationAnswer => {
    unasked += 1;
    if (unasked <= QUESTION_BOUNDS.logged || unasked % QUESTION_BOUNDS.loggedEach === 0) {
      // The question's text stays out of the log: a server may put anything there.
      const invocations = running.slice(0, 8).map(({ invocationId }) => invocationId);
      log.warn('upstream-question-unanswered', { upstream, why, invocations, unanswered: unasked });
    }
    for (const asker of running) asker.onUnasked?.(why);
    return { action: 'cancel' };
  };
  return {
    deskStands: desk !== undefined,
    async ask(params, askers, signal) {
      const asker = desk === undefined ? NO_CLIENT : oneOf(askers);
      if (desk === undefined || typeof asker === 'string') return cancel(String(asker), askers);
      const asked = questionOf(params);
      if (typeof asked === 'string') return cancel(asked, askers);
      if (open >= QUESTION_BOUNDS.openMax) return cancel('too many questions wait already', askers);
      if (signal.aborted) return { action: 'cancel' };
      open += 1;
      try {
        const invocationIds = askers.running.map(({ invocationId }) => invocationId).reverse();
        const whileAsking: ElicitationRequest['whileAsking'] = (ask) => asker.whileAsking?.(ask) ?? ask();
        const question = { tenantId, upstream, invocationIds, whileAsking, ...asked };
        const answer = await orAborted(desk.ask(question, signal), signal);
        return 'unasked' in answer ? cancel(answer.unasked, askers) : answerOf(answer);
      } catch (thrown) {
        if (!signal.aborted) log.warn('upstream-question-failed', { upstream, error: String(thrown) });
        return { action: 'cancel' };
      } finally {
        open -= 1;
      }
    },
  };
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

function answerOf(answer: ElicitationAnswer): ElicitationAnswer {
  if (answer.action !== 'accept') return { action: answer.action === 'decline' ? 'decline' : 'cancel' };
  return answer.content === undefined ? { action: 'accept' } : { action: 'accept', content: answer.content };
}

type Question = Omit<ElicitationRequest, 'tenantId' | 'upstream' | 'invocationIds' | 'whileAsking'>;

/** The question in the parameters of `elicitation/create`, or the reason why there is none. */
function questionOf(params: unknown): Question | string {
  if (!isObject(params) || typeof params['message'] !== 'string') return 'the question has no message';
  const message = params['message'].slice(0, QUESTION_BOUNDS.messageCharsMax);
  if (params['mode'] === 'url') {
    const { url } = params;
    if (typeof url !== 'string' || url.length > QUESTION_BOUNDS.urlCharsMax) return 'the question has no url';
    return /^https?:\/\//i.test(url) ? { mode: 'url', message, url } : 'its url is no web address';
  }
  if (params['mode'] !== undefined && params['mode'] !== 'form') return 'the question has an unknown mode';
  const { requestedSchema } = params;
  if (!isObject(requestedSchema)) return 'the question has no schema';
  if (JSON.stringify(requestedSchema).length > QUESTION_BOUNDS.schemaCharsMax) return 'its schema is too long';
  return { mode: 'form', message, requestedSchema };
}
