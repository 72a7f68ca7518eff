import type { Log } from '../../telemetry/log.ts';
import type { ElicitationAnswer, ElicitationDesk, ElicitationRequest } from '../elicitation.port.ts';

/** Bounds of what one connection may ask people. */
export const QUESTION_BOUNDS = {
  /** Questions that wait for a person; one more is declined at once. */
  openMax: 16,
  messageCharsMax: 4_000,
  urlCharsMax: 4_000,
  /** A schema that is longer as JSON is no form for a person. */
  schemaCharsMax: 16_000,
  /** Declined questions that are logged, for the life of a connection. */
  logged: 5,
} as const;

/** Who asks, and whom. */
export interface QuestionParts {
  readonly tenantId: string;
  readonly upstream: string;
  readonly log: Log;
  /** Without one every question is declined. */
  readonly desk?: ElicitationDesk | undefined;
}

/** Questions of one server to people. */
export interface Questions {
  /** Whether there is anybody to ask. */
  readonly deskStands: boolean;
  /** Asks, and always answers: a question that is not well formed, or one too many, is declined and logged. Never rejects. */
  ask(params: unknown, invocationIds: readonly string[], signal: AbortSignal): Promise<ElicitationAnswer>;
}

/** Nothing was asked yet. */
export function createQuestions({ tenantId, upstream, log, desk }: QuestionParts): Questions {
  let open = 0;
  let declined = 0;
  const decline = (why: string, invocationIds: readonly string[]): ElicitationAnswer => {
    declined += 1;
    if (declined <= QUESTION_BOUNDS.logged) {
      // Its text stays out of the log: a server may put anything there.
      log.warn('upstream-elicitation-declined', { upstream, why, invocations: invocationIds.slice(0, 8), declined });
    }
    return { action: 'decline' };
  };
  return {
    deskStands: desk !== undefined,
    async ask(params, invocationIds, signal) {
      if (desk === undefined) return decline('there is nobody to ask', invocationIds);
      const asked = questionOf(params);
      if (typeof asked === 'string') return decline(asked, invocationIds);
      if (open >= QUESTION_BOUNDS.openMax) return decline('too many questions wait already', invocationIds);
      if (signal.aborted) return { action: 'cancel' };
      open += 1;
      try {
        return answerOf(await orAborted(desk({ tenantId, upstream, invocationIds, ...asked }, signal), signal));
      } catch (thrown) {
        if (!signal.aborted) log.warn('upstream-elicitation-failed', { upstream, error: String(thrown) });
        return { action: 'cancel' };
      } finally {
        open -= 1;
      }
    },
  };
}

/** A desk that does not look at its signal must not keep the connection waiting. */
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

type Question = Omit<ElicitationRequest, 'tenantId' | 'upstream' | 'invocationIds'>;

/** The question in the parameters of `elicitation/create`, or why there is none. */
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
