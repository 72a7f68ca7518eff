import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { BeforeHook } from '../../../hooks/hook.ts';
import type { Hooks } from '../../../hooks/run-hooks.ts';
import type { Admitted, Authorized, CallRequest, Consulted, Fresh, Resolved, Validated } from '../../call.ts';
import type { OngoingCall } from '../../ongoing/ongoing-call.ts';
import type { PipelineParts } from '../../parts.ts';
import { isEarlierAnswer, isWaits, type Stage, type StageEnd } from '../../stage.ts';
import { argumentsOutOfBounds } from '../admit.ts';
import { type Hookable, hookedCall, noteVerdict, subjectOf } from './hooked-call.ts';

type Needs = Hookable & Fresh;

/** The stages that arguments go through again which a hook has rewritten. */
export interface Judges {
  readonly validate: Stage<Admitted & Resolved & CallRequest, Validated>;
  readonly authorize: Stage<CallRequest & Admitted & Resolved & Validated, Authorized>;
}

const CONSULTED: Consulted = { consulted: true };

/**
 * Between stages 5 and 6: the hooks before a call, in the order of their configuration, each once (PIPE-14). What one rewrites is
 * validated and authorised as if the caller had sent it, before the next one sees it; nobody rewrites twice, so this ends.
 *
 * It stands behind `reuse`, so that an idempotency key stands for what the caller sent and a replay asks no hook again,
 * and before `approve`, so that a person is asked about what will run.
 */
export function consult({ hooks, limits }: Pick<PipelineParts, 'hooks' | 'limits'>, judges: Judges) {
  return {
    name: 'consult',
    async run(call, ongoing) {
      // Asked once, before it waited; what they rewrote is what waited.
      const asked = ongoing.resumed === undefined ? hooks?.before(subjectOf(call)) : undefined;
      return hooks === undefined || asked === undefined ? CONSULTED : askAll(hooks, asked, call, ongoing);
    },
  } satisfies Stage<Needs, Consulted> as Stage<Needs, Consulted>;

  async function askAll(
    all: Hooks,
    asked: readonly BeforeHook[],
    given: Needs,
    ongoing: OngoingCall,
  ): Promise<StageEnd<Consulted>> {
    let call = given;
    for (const hook of asked) {
      const { verdict, answer, refused } = await all.askBefore(
        hook,
        hookedCall(call, ongoing),
        ongoing.controller.signal,
      );
      noteVerdict(ongoing, answer === undefined ? verdict : { ...verdict, input_hash_before: call.inputHash });
      if (refused !== undefined) return refused;
      if (answer === undefined) continue;
      const again = await judgeAgain(judges, { ...call, givenParameters: answer.arguments }, limits, ongoing);
      if (isFailure(again)) return again;
      call = again;
      // On record is what will run, also when a later hook refuses it.
      Object.assign(ongoing.call, {
        parameters: call.parameters,
        argumentFindings: call.argumentFindings,
        inputHash: call.inputHash,
      });
    }
    const { givenParameters, parameters, argumentFindings, inputHash, grant, executor, trust, policyAsks } = call;
    const judged: Pick<Admitted, 'givenParameters'> & Validated & Authorized = {
      givenParameters,
      parameters,
      argumentFindings,
      inputHash,
      grant,
      executor,
      trust,
      policyAsks,
    };
    return { ...judged, ...CONSULTED };
  }
}

/** The call with other arguments, after the same checks as the first ones went through. */
async function judgeAgain(
  { validate, authorize }: Judges,
  call: Needs,
  limits: PipelineParts['limits'],
  ongoing: OngoingCall,
): Promise<Needs | Failure> {
  const outside = argumentsOutOfBounds(call.givenParameters, limits);
  if (outside !== undefined) return outside;
  const validated = await validate.run(call, ongoing);
  if (isFailure(validated) || isEarlierAnswer(validated) || isWaits(validated)) return refusalOf(validated);
  const authorized = await authorize.run({ ...call, ...validated }, ongoing);
  if (isFailure(authorized) || isEarlierAnswer(authorized) || isWaits(authorized)) return refusalOf(authorized);
  return { ...call, ...validated, ...authorized };
}

/** Neither stage answers with an earlier answer; the type of a stage only allows it. */
function refusalOf(end: Failure | object): Failure {
  if (isFailure(end)) return end;
  throw new Error('a stage that judges arguments answered for the tool');
}
