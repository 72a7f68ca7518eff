import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ownerKey } from '../../../domain/invocation/call-owner.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import { forgetEnded } from './ask-user.ts';
import type { AskedFor, Confirming, Settled } from './confirming.ts';
import { confirmerOf, decide, NOT_DECIDED } from './decide.ts';
import { answerOf } from './elicit-form.ts';
import { answerOnRecord } from './wait-for-end.ts';
import { callDigest } from './waiting-calls.ts';

/**
 * Takes the answer that a request carries with its state (2026-07-28). Repeating it changes nothing: the reply is the
 * call's current state.
 * @throws ToolLayerError E3801 for a state that was not issued to this holder for this request
 */
export async function takeCarried(confirming: Confirming, requestState: string, call: AskedFor): Promise<Settled> {
  const { layer, seal, settings } = confirming;
  const { peer, input, params } = call;
  const by = await confirmerOf(layer, peer);
  const state = seal.open(requestState);
  if (state === undefined || state.holder !== ownerKey(by) || state.call !== callDigest(input)) {
    throw new ToolLayerError('E3801', 'The requestState was not given for this call. Call without it.');
  }
  const { invocationId, approvalId, bindingDigest } = state;
  const { inputResponses } = params;
  const answers = isObject(inputResponses) ? inputResponses : {};
  const isAnswered = settings.elicitation !== 'off' && Object.hasOwn(answers, approvalId);
  const said = isAnswered ? answerOf(answers[approvalId]) : 'none';
  if (said === 'none') {
    return { response: await answerOnRecord(layer, peer.caller, invocationId), note: NOT_DECIDED };
  }
  const settled = await decide(
    confirming,
    { by, approvalId, invocationId, bindingDigest, accepted: said === 'yes' },
    peer,
  );
  forgetEnded(confirming, settled, peer, input);
  return settled;
}
