import type { ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { ownerKey } from '../../../domain/invocation/call-owner.ts';
import type { Peer } from '../../mcp-server.ts';
import type { Confirmer, ShownQuestion } from '../client-confirmations.port.ts';
import type { AskedFor, Confirming, Settled } from './confirming.ts';
import { confirmerOf, decide, isOpen, isWaiting, NOT_DECIDED } from './decide.ts';
import { answerOf, elicits, formFor } from './elicit-form.ts';
import { answerOnRecord } from './wait-for-end.ts';
import { callDigest, type WaitingCall } from './waiting-calls.ts';

/** Most questions about one request: a call that changed meanwhile asks again. */
const ROUNDS_MAX = 3;
/** Most questions about one approval while its request is repeated. */
const ASKED_MAX = 3;

/** A question that may be put to the client. */
interface Offer {
  readonly by: Confirmer;
  readonly approvalId: string;
  readonly shown: ShownQuestion;
}

/** Asks the user at the client for as long as the call waits for their answer. */
export async function askUser(
  confirming: Confirming,
  response: ToolInvokeResponse,
  call: AskedFor,
  known: WaitingCall,
): Promise<Settled> {
  const { peer, input } = call;
  let settled: Settled = { response };
  for (let round = 0; round < ROUNDS_MAX && 'response' in settled && isWaiting(settled.response); round += 1) {
    const offer = known.asked < ASKED_MAX ? await offerFor(confirming, settled.response, peer) : undefined;
    if (offer === undefined) break;
    known.asked += 1;
    const { invocation_id: invocationId } = settled.response;
    if (peer.era === 'modern') return carried(confirming, offer, invocationId, call);
    const said = await askNow(confirming, offer, peer);
    if (said === 'none') {
      // The approval may have ended while the user was asked: expired, or decided elsewhere.
      settled = { response: await answerOnRecord(confirming.layer, peer.caller, invocationId), note: NOT_DECIDED };
      break;
    }
    const { by, approvalId, shown } = offer;
    const answer = { by, approvalId, invocationId, bindingDigest: shown.bindingDigest, accepted: said === 'yes' };
    settled = await decide(confirming, answer, peer);
  }
  forgetEnded(confirming, settled, call.peer, input);
  return settled;
}

/** The end of a call is reported once; after that the same request is a new call. */
export function forgetEnded({ waiting }: Confirming, settled: Settled, peer: Peer, input: AskedFor['input']): void {
  if ('response' in settled && !isOpen(settled.response)) waiting.forget(peer.caller.token, input);
}

async function offerFor(
  { layer, confirmations, settings, clock }: Confirming,
  { approval }: ToolInvokeResponse,
  peer: Peer,
): Promise<Offer | undefined> {
  if (confirmations === undefined || settings.elicitation === 'off' || approval === undefined) return undefined;
  if (!elicits(peer, 'form')) return undefined;
  if (peer.era === 'legacy' && peer.ask === undefined) return undefined;
  const by = await confirmerOf(layer, peer);
  const shown = await confirmations.shown(by, approval.approval_id);
  if (shown === undefined || shown.expiresAt <= clock.now()) return undefined;
  return { by, approvalId: approval.approval_id, shown };
}

/** Asks now; the wait is limited by the setting, the end of the question, and the client. */
async function askNow(
  { settings, clock, log }: Confirming,
  { shown, by, approvalId }: Offer,
  { ask, signal }: Peer,
): Promise<ReturnType<typeof answerOf>> {
  const waitMs = Math.max(1, Math.min(settings.confirmationWaitMs, shown.expiresAt - clock.now()));
  const until = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  try {
    return answerOf(await ask?.('elicitation/create', formFor(shown, by), until));
  } catch (thrown) {
    log.info('confirmation-not-answered', { approval_id: approvalId, reason: String(thrown) });
    return 'none';
  }
}

/**
 * The question that the client answers with its next request. It is keyed by its approval, so that answers cannot be
 * mixed up.
 */
function carried(
  { seal }: Confirming,
  { by, approvalId, shown }: Offer,
  invocationId: string,
  call: AskedFor,
): Settled {
  const { bindingDigest } = shown;
  const state = { invocationId, approvalId, bindingDigest, holder: ownerKey(by), call: callDigest(call.input) };
  return {
    inputRequests: { [approvalId]: { method: 'elicitation/create', params: formFor(shown, by) } },
    requestState: seal.seal(state),
  };
}
