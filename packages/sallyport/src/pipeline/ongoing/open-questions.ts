import { randomUUID } from 'node:crypto';
import type { CallQuestion, CallQuestionsByKey } from '../../domain/invocation/tasks/call-question.ts';

/** Most questions of one call that wait for an answer. */
const OPEN_MAX = 16;

interface Waiting {
  readonly question: CallQuestion;
  take(answer: unknown): void;
}

/** Questions of a running call that its client answers by and by, each under a key of its own. */
export class OpenQuestions {
  readonly #open = new Map<string, Waiting>();
  #wasAsked = false;

  /** True once there has been any. */
  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  /** Those without an answer, by key. */
  get open(): CallQuestionsByKey {
    return Object.fromEntries([...this.#open].map(([key, { question }]) => [key, question]));
  }

  /**
   * Asks, and waits for the answer as the client writes it.
   * @throws Error when too many wait already, or `signal` aborts first
   */
  ask(question: CallQuestion, signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) return Promise.reject(new Error('The wait for the client is over.'));
    if (this.#open.size >= OPEN_MAX)
      return Promise.reject(new Error(`The client has ${OPEN_MAX} questions to answer already.`));
    const key = `question-${randomUUID()}`;
    this.#wasAsked = true;
    return new Promise((resolve, reject) => {
      const drop = (): void => {
        if (this.#open.delete(key)) reject(new Error('The wait for the client is over.'));
      };
      signal.addEventListener('abort', drop, { once: true });
      const take = (answer: unknown): void => {
        signal.removeEventListener('abort', drop);
        resolve(answer);
      };
      this.#open.set(key, { question, take });
    });
  }

  /** Takes answers by key; those to no open question change nothing. */
  answer(answers: Readonly<Record<string, unknown>>): void {
    for (const [key, answer] of Object.entries(answers)) {
      const waiting = this.#open.get(key);
      if (waiting === undefined) continue;
      this.#open.delete(key);
      waiting.take(answer);
    }
  }
}
