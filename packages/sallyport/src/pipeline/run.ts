// Hot path: the loop of every call.
import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { stateAfterFailure } from '../domain/invocation/lifecycle.ts';
import { type EndedCall, establish, newOngoingCall, type OngoingCall, type RunCall } from './ongoing/ongoing-call.ts';
import { stagesInOrder, wrappersInOrder } from './order.ts';
import type { PipelineParts } from './parts.ts';
import { type AnyStage, isEarlierAnswer, isRefused, isWaits, type StageEnd } from './stage.ts';
import { undoByCall } from './undo/undo-by-call.ts';
import type { EnterState, Runner } from './wrappers/wrapper.ts';

export type { OngoingCall, Resumed, RunCall } from './ongoing/ongoing-call.ts';
export { agentKey } from './ongoing/running-calls.ts';
export type { AgentSlot } from './ongoing/slots/agent-slots.ts';
export type { WorkerHold } from './ongoing/worker-hold.ts';
/** Writes a row unless the call has ended already. */
export { commitUnlessOver } from './record/commit-unless-over.ts';
/** Settles calls that no run ends. */
export { recoverOpenCalls, settleOpen } from './record/recover.ts';
/** Events of calls that no run writes. */
export { rowEvent } from './record/row-event.ts';
export { continueRollbacks } from './undo/continue-rollbacks.ts';

/** The pipeline of a layer. */
export interface Pipeline {
  readonly run: RunCall;
  /** Dependencies of the pipeline; its transactions can undo calls too. */
  readonly parts: PipelineParts;
}

/** The one way to run a tool (PIPE-02): the stages in order, inside the wrappers. */
export function createPipeline(given: PipelineParts): Pipeline {
  const run: RunCall = async (request, resumed) => {
    const ongoing = newOngoingCall(request, parts.clock.monotonic(), false, resumed);
    const { record } = await toEnd(ongoing, noState).finally(() => parts.running.remove(ongoing));
    if (record === undefined) throw new Error('the list of wrappers lacks the one that writes the record');
    parts.running.noteOnRecord(record, ongoing);
    return record;
  };
  const parts = withCallsUndone(given, run);
  const stages = stagesInOrder(parts);
  const toEnd = wrappersInOrder(parts).reduceRight<Runner>(
    (next, wrapper) => wrapper(next),
    parts.onStage === undefined ? throughStages(stages) : throughTimedStages(stages, parts.onStage),
  );
  return { run, parts };
}

/** Undoes calls that a call made to other tools: by compensating calls through this very pipeline. */
function withCallsUndone(parts: PipelineParts, runCall: RunCall): PipelineParts {
  const { transactions, records, outcomes } = parts;
  const call = undoByCall({ runCall, records, outcomes });
  return { ...parts, transactions: { ...transactions, undoers: { call, ...transactions.undoers } } };
}

/** For wrappers outside of `audited`, and for dry runs, which keep no states. */
export const noState: EnterState = () => undefined;

/**
 * THE loop. Runs stage after stage and adds up what they establish, until one refuses, answers or sets the call aside,
 * or all are done. A dry run enters no state, and skips stages that take something.
 * @returns never rejects: an error thrown by a stage becomes its refusal
 */
export function throughStages(stages: readonly AnyStage[]): Runner {
  return async (ongoing, enter) => {
    for (const stage of stages) {
      if (ongoing.rehearsal && stage.takes !== undefined) continue;
      try {
        const { signal } = ongoing.controller;
        if (signal.aborted) return failed(failureOf(signal.reason), ongoing, stage);
        if (stage.begins !== undefined) await enter(stage.begins);
        // The list is checked by its type: what the stage needs is there.
        const end = takeIn(await stage.run(ongoing.call as never, ongoing), ongoing, stage);
        if (end !== undefined) return end;
        if (stage.reaches !== undefined) await enter(stage.reaches);
      } catch (thrown) {
        return failed(failureOf(thrown), ongoing, stage);
      }
    }
    return { state: ongoing.rehearsal ? 'AUTHORIZED' : 'COMPLETED' };
  };
}

function throughTimedStages(stages: readonly AnyStage[], onStage: (stage: string, ms: number) => void): Runner {
  return throughStages(
    stages.map((stage) => ({
      ...stage,
      async run(call, ongoing) {
        const start = performance.now();
        const end = await stage.run(call, ongoing);
        onStage(stage.name, performance.now() - start);
        return end;
      },
    })),
  );
}

/** Adds what a stage returned to the call; undefined when the call continues. */
function takeIn(end: StageEnd<object>, ongoing: OngoingCall, stage: AnyStage): EndedCall | undefined {
  if (isFailure(end)) return failed(end, ongoing, stage);
  if (isRefused(end)) {
    establish(ongoing.call, end.established);
    return failed(end.refused, ongoing, stage);
  }
  if (isEarlierAnswer(end)) return { state: 'COMPLETED', answered: end.answered };
  // A call that its server runs on as a task has begun already.
  const hasBegun = ongoing.transitions.at(-1)?.state === 'EXECUTING';
  if (isWaits(end)) return { state: hasBegun ? 'EXECUTING' : 'AUTHORIZED', waits: end.waits };
  establish(ongoing.call, end);
  return undefined;
}

function failed(failure: Failure, ongoing: OngoingCall, { name }: AnyStage): EndedCall {
  const state = stateAfterFailure(failure);
  // A refusal by the running tool comes too late to be a denial.
  const ran = ongoing.transitions.at(-1)?.state === 'EXECUTING';
  return { state: ran && state === 'DENIED' ? 'FAILED' : state, failure, stage: name };
}
