import type { AfterHook } from '../../../hooks/hook.ts';
import type { Hooks } from '../../../hooks/run-hooks.ts';
import type { Executed, Ran } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import type { Stage, StageEnd } from '../../stage.ts';
import { type Hookable, hookedCall, noteVerdict, subjectOf } from './hooked-call.ts';

type Needs = Hookable & Ran;

/**
 * Between stages 9 and 10: the hooks after a call, in the order of their configuration, each once (PIPE-14). It stands before `inspect`:
 * whatever the tool or a hook made of the result, one inspection lies between it and the caller.
 */
export function review({ hooks }: Pick<PipelineParts, 'hooks'>): Stage<Needs, Executed> {
  return {
    name: 'review',
    async run(call, ongoing) {
      const asked = hooks?.after(subjectOf(call));
      return hooks === undefined || asked === undefined ? { outcome: call.ran } : askAll(hooks, asked, call, ongoing);
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
  const told = hookedCall(call, ongoing);
  for (const hook of asked) {
    const shown = { ...told, result: outcome.result, toolError: outcome.toolError === true };
    const { verdict, answer, refused } = await hooks.askAfter(hook, shown, ongoing.controller.signal);
    noteVerdict(ongoing, verdict);
    if (refused !== undefined) return refused;
    if (answer !== undefined) outcome = { ...outcome, result: answer.result };
  }
  return { outcome };
}
