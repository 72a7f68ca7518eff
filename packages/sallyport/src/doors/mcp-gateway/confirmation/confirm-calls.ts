import { systemClock } from '@sallyport/std/clock';
import type { ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import { holderIn } from '../../../domain/principal/open-register.ts';
import { askUser } from './ask-user.ts';
import { takeCarried } from './carried-answer.ts';
import type { AskedFor, ConfirmCallsParts, Confirming, Settled } from './confirming.ts';
import { createStateSeal } from './request-state.ts';
import { answerOnRecord } from './wait-for-end.ts';
import { createWaitingCalls } from './waiting-calls.ts';

/** The gateway's handling of calls that wait for a person. */
export interface ConfirmCalls {
  /** Handles a call that just began to wait: asks the user at once where that is allowed. */
  settle(response: ToolInvokeResponse, call: AskedFor): Promise<Settled>;
  /** Handles a repeated request, while its call waits or its end was not yet reported; undefined for a new call. */
  repeated(call: AskedFor): Promise<Settled> | undefined;
  /**
   * Handles a request that brings the answer to its question (2026-07-28); undefined for one that brings none.
   * @throws ToolLayerError E3801 for a state that was not issued to this holder for this request
   */
  answered(call: AskedFor): Promise<Settled> | undefined;
}

/** Makes the handling; no call waits yet. */
export function createConfirmCalls({ stateKey, ...parts }: ConfirmCallsParts): ConfirmCalls {
  const { settings, layer } = parts;
  const confirming: Confirming = {
    ...parts,
    clock: systemClock,
    waiting: createWaitingCalls({
      max: settings.waitingCallsMax,
      perTenantMax: settings.waitingCallsPerTenantMax,
      perHolderMax: settings.waitingCallsPerHolderMax,
    }),
    seal: createStateSeal(stateKey),
  };
  const { waiting, clock } = confirming;
  return {
    settle: async (response, call) => {
      const { peer, input } = call;
      const inspected = await layer.ask('tokens.inspect', {}, peer.caller).catch(() => undefined);
      // The credential ended meanwhile: nobody can repeat the request with it.
      if (inspected === undefined) return { response };
      const known = waiting.add({
        holder: holderIn(inspected),
        token: peer.caller.token,
        input,
        response,
        now: clock.now(),
      });
      return askUser(confirming, response, call, known);
    },
    repeated: (call) => {
      const { caller } = call.peer;
      const known = waiting.find(caller.token, call.input, clock.now());
      if (known === undefined) return undefined;
      return answerOnRecord(layer, caller, known.invocationId).then((now) => askUser(confirming, now, call, known));
    },
    answered: (call) => {
      const { requestState } = call.params;
      if (call.peer.era !== 'modern' || typeof requestState !== 'string') return undefined;
      return takeCarried(confirming, requestState, call);
    },
  };
}
