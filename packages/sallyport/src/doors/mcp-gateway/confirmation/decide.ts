import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Peer } from '../../mcp-server.ts';
import type { Confirmer } from '../client-confirmations.port.ts';
import type { Confirming, Settled } from './confirming.ts';
import { waitForEnd } from './wait-for-end.ts';

/** A user's answer, and the call it belongs to. */
export interface Said {
  readonly by: Confirmer;
  readonly approvalId: string;
  readonly invocationId: string;
  readonly bindingDigest: string;
  readonly accepted: boolean;
}

/** Error codes that mean: the approval is over. */
const OVER: ReadonlySet<string> = new Set(['E3808', 'E3817']);
/** Longest wait for the end of a call whose approval is over, in ms. */
const OVER_WAIT_MS = 2_000;

/** Note in the reply for a call that still waits. */
export const NOT_DECIDED = 'The user was asked at the client and has not decided.';

/** Submits an answer to the approvals, which decide whether it counts; then follows the call to its end. */
export async function decide(
  { layer, log, confirmations, settings, clients }: Confirming,
  { invocationId, ...answer }: Said,
  peer: Peer,
): Promise<Settled> {
  const { by, approvalId } = answer;
  try {
    await confirmations?.confirm({ ...answer, tenantId: by.tenantId });
  } catch (thrown) {
    const { code, message } = failureOf(thrown);
    log.info('confirmation-not-taken', { approval_id: approvalId, code });
    // Decided elsewhere or expired: the call ends in a moment. Any other failure leaves it waiting.
    const until = AbortSignal.any([peer.signal, AbortSignal.timeout(OVER.has(code) ? OVER_WAIT_MS : 0)]);
    return { response: await waitForEnd(layer, peer.caller, invocationId, approvalId, until), note: message };
  }
  using _found = clients.ofCall(by.tenantId, invocationId, peer);
  const until = AbortSignal.any([peer.signal, AbortSignal.timeout(settings.confirmedWaitMs)]);
  return { response: await waitForEnd(layer, peer.caller, invocationId, approvalId, until) };
}

/** The owner that a client's token speaks for. @throws ToolLayerError E32xx */
export async function confirmerOf(layer: ToolLayer, { caller }: Pick<Peer, 'caller'>): Promise<Confirmer> {
  const { tenant_id, agent_did, user_did } = await layer.ask('tokens.inspect', {}, caller);
  return { tenantId: tenant_id, agentDid: agent_did, ...(user_did === undefined ? {} : { userDid: user_did }) };
}

/** True when a call waits for a person. */
export const isWaiting = ({ status, error }: ToolInvokeResponse): boolean =>
  status === 'pending_approval' && error === undefined;

/** True while a call is not over. */
export const isOpen = (response: ToolInvokeResponse): boolean =>
  isWaiting(response) || response.status === 'pending' || response.status === 'running';
