import type { CallKey } from '../../domain/invocation/call-key.ts';
import type { CallQuestion, CallQuestionsByKey } from '../../domain/invocation/tasks/call-question.ts';

/**
 * Questions of running tasks to the users at their clients. It is no operation: agents reach it through an MCP client
 * alone, which shows a question to its user.
 */
export interface CallQuestions {
  /** Questions that the client of a call that runs here can be asked, as MCP capabilities; undefined: none. */
  clientOf(call: CallKey): Readonly<Record<string, unknown>> | undefined;
  /** Puts a question of a call that runs here, and waits for the answer. Rejects when the wait ends without one. */
  ask(call: CallKey, question: CallQuestion, signal: AbortSignal): Promise<unknown>;
  /** Open questions of a call, whichever instance runs it. */
  open(call: CallKey): Promise<CallQuestionsByKey>;
  /** Gives answers by key; those to no open question change nothing. */
  answer(call: CallKey, answers: Readonly<Record<string, unknown>>): Promise<void>;
}
