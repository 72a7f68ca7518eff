import type { Clock } from '@sallyport/std/clock';
import type { ToolInvokeRequest, ToolInvokeResponse } from '../../../../api/schemas/invocation.ts';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Params } from '../../json-rpc.ts';
import type { Peer } from '../../mcp-server.ts';
import type { ClientConfirmations } from '../client-confirmations.port.ts';
import type { McpSettings } from '../settings.ts';
import type { AskableClients } from '../upstream-questions/askable-clients.ts';
import type { StateSeal } from './request-state.ts';
import type { WaitingCalls } from './waiting-calls.ts';

/** One request of a client that is, or leads to, a waiting call. */
export interface AskedFor {
  readonly input: ToolInvokeRequest;
  readonly params: Params;
  readonly peer: Peer;
}

/** The reply to the client: the call as it stands, or a question that the client must answer first (2026-07-28). */
export type Settled =
  | { readonly response: ToolInvokeResponse; readonly note?: string }
  | { readonly inputRequests: Params; readonly requestState: string };

/** Dependencies of the confirmations at clients. */
export interface ConfirmCallsParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  readonly settings: McpSettings;
  /** Absent: no client is asked. */
  readonly confirmations?: ClientConfirmations;
  /** 32 bytes that sign the state which clients of the 2026 era carry. */
  readonly stateKey: Uint8Array;
  /** Finds the client that waits for the end of a confirmed call. */
  readonly clients: Pick<AskableClients, 'ofCall'>;
}

/** The dependencies, and the state of the confirmations at run time. */
export interface Confirming extends Omit<ConfirmCallsParts, 'stateKey'> {
  readonly clock: Clock;
  readonly waiting: WaitingCalls;
  readonly seal: StateSeal;
}
