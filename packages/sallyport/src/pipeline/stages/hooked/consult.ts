import { isFailure } from '@sallyport/std/error/failure';
import type { BeforeHook, HookVerdict } from '../../../hooks/hook.ts';
import type { Hooks } from '../../../hooks/run-hooks.ts';
import type { Admitted, Authorized, CallRequest, Consulted, Fresh, Noted, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import {
  isEarlierAnswer,
  isRefused,
  isWaits,
  type Refused,
  refusedBy,
  type Stage,
  type StageEnd,
} from '../../stage.ts';
import { argumentsOutOfBounds } from '../admit.ts';
import { type Hookable, hookedCall, subjectOf } from './hooked-call.ts';

type Needs = Hookable & Noted & Fresh;

/** The stages that rewritten arguments go through again. */
export interface Judges {
  readonly validate: Stage<CallRequest & Noted & Admitted & Resolved, Validated>;
  readonly authorize: Stage<CallRequest & Noted & Admitted & Resolved & Validated, Authorized>;
}

const NOT_ASKED: Consulted = { hookVerdicts: [] };

/**
 * Asks the hooks before a call, in the order of their configuration, each once (PIPE-14). Arguments that a hook
 * rewrites are validated and authorised as if the caller had sent them, before the next hook sees them; no hook is
 * asked twice, so this ends.
 *
 * It comes after `reuse`, so that an idempotency key means what the caller sent and a replay asks no hook again, and
 * before `approve`, so that a person is asked about what will run.
 */
export function consult({ hooks, limits }: Pick<PipelineParts, 'hooks' | 'limits'>, judges: Judges) {
  return {
    name: 'consult',
    async run(call, ongoing) {
      // Hooks are asked once, before the call waits; their rewritten arguments are what waited. Of an approver's edit they
      // are asked when it is judged, so neither when the call continues.
      const isAsked = ongoing.resumed === undefined || ongoing.rehearsal;
      const asked = isAsked ? hooks?.before(subjectOf(call)) : undefined;
      return hooks === undefined || asked === undefined ? NOT_ASKED : askAll(hooks, asked, call, ongoing);
    },
  } satisfies Stage<Needs, Consulted> as Stage<Needs, Consulted>;

  async function askAll(
    all: Hooks,
    asked: readonly BeforeHook[],
    given: Needs,
    ongoing: OngoingCall,
  ): Promise<StageEnd<Consulted>> {
    let call = given;
    const hookVerdicts: HookVerdict[] = [];
    /** The arguments as rewritten so far: on record also when a later hook refuses the call. */
    let judged: Partial<Judged> = {};
    try {
      for (const hook of asked) {
        const { verdict, answer, refused } = await all.askBefore(
          hook,
          hookedCall(call, ongoing),
          ongoing.controller.signal,
        );
        hookVerdicts.push(answer === undefined ? verdict : { ...verdict, input_hash_before: call.inputHash });
        if (refused !== undefined) return { refused, established: { ...judged, hookVerdicts } };
        if (answer === undefined) continue;
        const again = await judgeAgain(judges, { ...call, givenParameters: answer.arguments }, limits, ongoing);
        if (isRefused(again))
          return { refused: again.refused, established: { ...judged, ...again.established, hookVerdicts } };
        judged = { ...again, givenParameters: answer.arguments };
        call = { ...call, ...again, givenParameters: answer.arguments };
      }
      return { ...judged, hookVerdicts };
    } catch (thrown) {
      return refusedBy(thrown, { ...judged, hookVerdicts });
    }
  }
}

/** The rewritten arguments, with their validation and authorisation. */
type Judged = Pick<Admitted, 'givenParameters'> & Validated & Authorized;

/** Puts rewritten arguments through the same checks as the first ones. */
async function judgeAgain(
  { validate, authorize }: Judges,
  call: Needs,
  limits: PipelineParts['limits'],
  ongoing: OngoingCall,
): Promise<(Validated & Authorized) | Refused<Judged>> {
  const outside = argumentsOutOfBounds(call.givenParameters, limits);
  if (outside !== undefined) return { refused: outside, established: {} };
  const validated = judgementOf(await validate.run(call, ongoing));
  if (isRefused(validated)) return validated;
  const authorized = judgementOf(await authorize.run({ ...call, ...validated }, ongoing));
  return isRefused(authorized) ? authorized : { ...validated, ...authorized };
}

/** The judging stages never answer for the tool or set the call aside; only the type of a stage allows it. */
function judgementOf<Adds extends object>(end: StageEnd<Adds>): Adds | Refused<Adds> {
  if (isFailure(end)) return { refused: end, established: {} };
  if (isEarlierAnswer(end) || isWaits(end)) throw new Error('a stage that judges arguments answered for the tool');
  return end;
}
