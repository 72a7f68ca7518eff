import type { CallKey } from '../../../domain/invocation/call-key.ts';
import type { CallQuestion, CallQuestionsByKey } from '../../../domain/invocation/tasks/call-question.ts';
import type { PipelineParts } from '../../../pipeline/parts.ts';
import type { CallLeaseStore } from '../../call-lease-store.port.ts';

/** Questions of running calls to the users at their clients, when nobody waits for the answer of the call. */
export interface CallQuestions {
  /** Questions that the client of a call that runs here can be asked, as MCP capabilities; undefined: none. */
  clientOf(call: CallKey): Readonly<Record<string, unknown>> | undefined;
  /**
   * Puts a question of a call that runs here, and waits for the answer as the client writes it.
   * @throws Error when the call does not run here, too many questions wait, or `signal` or the call ends first
   */
  ask(call: CallKey, question: CallQuestion, signal: AbortSignal): Promise<unknown>;
  /** Open questions of a call, whichever instance runs it. Whose call it is has to be checked before. */
  open(call: CallKey): Promise<CallQuestionsByKey>;
  /**
   * Gives answers, by key; those to no open question change nothing. A call that runs in another instance gets them
   * with that instance's next beat.
   */
  answer(call: CallKey, answers: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Dependencies of the questions. */
export interface CallQuestionParts {
  readonly running: PipelineParts['running'];
  readonly leases: Pick<CallLeaseStore, 'find' | 'notifyHolder'>;
}

const NONE: CallQuestionsByKey = {};

/** The questions are part of the running call; others read them from its lease, and leave the answers there. */
export function createCallQuestions({ running, leases }: CallQuestionParts): CallQuestions {
  const ongoing = ({ tenantId, invocationId }: CallKey) => running.find(tenantId, invocationId);
  return {
    clientOf: (call) => ongoing(call)?.call.caller.questions,
    ask(call, question, signal) {
      const here = ongoing(call);
      if (here === undefined) return Promise.reject(new Error('The call does not run here.'));
      return here.toolRun.questions.ask(question, AbortSignal.any([signal, here.controller.signal]));
    },
    async open(call) {
      const here = ongoing(call);
      if (here !== undefined) return here.toolRun.openQuestions ?? NONE;
      return (await leases.find(call))?.progress?.questions ?? NONE;
    },
    async answer(call, answers) {
      const here = ongoing(call);
      if (here !== undefined) {
        here.toolRun.questions.answer(answers);
        return;
      }
      const open = (await leases.find(call))?.progress?.questions ?? NONE;
      const fitting = Object.entries(answers).filter(([key]) => Object.hasOwn(open, key));
      if (fitting.length > 0) await leases.notifyHolder(call, { answers: Object.fromEntries(fitting) });
    },
  };
}
