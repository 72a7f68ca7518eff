import type { AfterHook } from '../../../hooks/hook.ts';
import type { Hooks } from '../../../hooks/run-hooks.ts';
import type { Consulted, Executed, Ran } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import { refusedBy, type Stage, type StageEnd } from '../../stage.ts';
import { type Hookable, hookedCall, subjectOf } from './hooked-call.ts';

type Needs = Hookable & Consulted & Ran;

/**
 * Asks the hooks after a call, in the order of their configuration, each once (PIPE-14). It comes before `inspect`, so
 * that whatever the tool or a hook made of the result is inspected before the caller gets it.
 */
export function review({ hooks }: Pick<PipelineParts, 'hooks'>): Stage<Needs, Executed> {
  return {
    name: 'review',
    async run(call, ongoing) {
      const asked = hooks?.after(subjectOf(call));
      if (hooks !== undefined && asked !== undefined) return askAll(hooks, asked, call, ongoing);
      return { outcome: call.ran, hookVerdicts: call.hookVerdicts };
    },
  };
}

async function askAll(
  hooks: Hooks,
  asked: readonly AfterHook[],
  call: Needs,
  ongoing: OngoingCall,
): Promise<StageEnd<Executed>> {
  let outcome = call.ran;
  const hookVerdicts = [...call.hookVerdicts];
  const hooked = hookedCall(call, ongoing);
  try {
    for (const hook of asked) {
      const shown = { ...hooked, result: outcome.result, toolError: outcome.toolError === true };
      const { verdict, answer, refused } = await hooks.askAfter(hook, shown, ongoing.controller.signal);
      hookVerdicts.push(verdict);
      if (refused !== undefined) return { refused, established: { hookVerdicts } };
      if (answer !== undefined) outcome = { ...outcome, result: answer.result };
    }
    return { outcome, hookVerdicts };
  } catch (thrown) {
    return refusedBy(thrown, { hookVerdicts });
  }
}
