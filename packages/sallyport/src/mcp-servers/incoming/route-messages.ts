import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import type { LogMessage } from '../../domain/invocation/log-message.ts';
import { createFloodGate } from '../connection/pacing/flood-gate.ts';
import { FIRST_ID, type RequestTable } from '../connection/request-table.ts';
import { giveLog, logMessageIn } from './server-logs.ts';
import type { ServerRequests } from './server-requests.ts';

/** Most unsolicited messages of a server in one window; beyond that the connection ends. */
export const UNSOLICITED_BOUNDS = { itemsMax: 20_000, bytesMax: 64 * MiB, windowMs: 10_000 } as const;

/** Counters of a connection's messages. */
export interface SeenMessages {
  /** Answers to requests that do not wait. */
  strayAnswers: number;
  /** Id of the probe for the newer protocol, once it was sent. */
  probeId: string | undefined;
  /** True when the server answered the probe for the newer protocol in any way. */
  probeAnswered: boolean;
}

/** Receivers of messages. */
export interface RouteParts {
  readonly clock: Clock;
  readonly table: Pick<RequestTable, 'progress' | 'settle' | 'askers'>;
  readonly serverRequests: ServerRequests;
  /** Transport that the SDK client listens on. */
  readonly control: Transport;
  /** Length of the message being delivered, in bytes; 0 when the transport does not know. */
  messageBytes(): number;
  /** Our request on whose own stream the message came; undefined when streams are shared. */
  sentOn(): number | undefined;
  /** True when the server speaks 2026-07-28 or later, where it sends no requests and gets no answers. */
  isModern(): boolean;
  onFlood(): void;
  /** Receives log messages that belong to no call. */
  onLog(message: LogMessage, owner?: string): void;
}

type Message = JSONRPCMessage & Readonly<Record<'id' | 'method' | 'params', unknown>>;

/**
 * Routes each message: to our own requests, to the handler of the server's requests, or to the SDK client. Anything
 * that is not a JSON-RPC message counts as unsolicited; never throws.
 */
export function routeMessages(parts: RouteParts, seen: SeenMessages): NonNullable<Transport['onmessage']> {
  const { table, serverRequests, control, messageBytes, onFlood } = parts;
  const gate = createFloodGate(parts.clock, UNSOLICITED_BOUNDS);
  const unsolicited = (): boolean => {
    if (gate.admits(messageBytes())) return true;
    onFlood();
    return false;
  };
  return (received, extra) => {
    const message = received as Message;
    const { id, method, params } = message;
    if (method === undefined) {
      if (table.settle(message)) return;
      if (isControlId(id)) {
        if (typeof id === 'string') seen.probeAnswered = true;
        control.onmessage?.(received, extra);
        return;
      }
      seen.strayAnswers += 1;
      unsolicited();
    } else if (method === 'notifications/progress' && table.progress(params)) {
      return;
    } else if (!unsolicited() || typeof method !== 'string') {
      return;
    } else if (id !== undefined && id !== null) {
      if (parts.isModern() || (typeof id !== 'string' && typeof id !== 'number')) return;
      serverRequests.answer(id, method, params, parts.sentOn());
    } else if (method === 'notifications/message') {
      const log = logMessageIn(params);
      const others = log === undefined ? undefined : giveLog(log, table.askers(parts.sentOn()));
      if (log !== undefined && others !== undefined) parts.onLog(log, others.owner);
    } else if (method === 'notifications/elicitation/complete') {
      serverRequests.completed(params);
    } else if (!isNoise(method)) {
      if (method === 'notifications/cancelled') serverRequests.cancelled(params);
      control.onmessage?.(received, extra);
    }
  };
}

/** Ids that the SDK client uses: small numbers, and a text for its probe. */
function isControlId(id: unknown): boolean {
  return typeof id === 'number' ? id < FIRST_ID : isProbeId(id);
}

export function isProbeId(id: unknown): id is string {
  return typeof id === 'string' && id.startsWith('server-discover-probe-');
}

/** Notifications without listeners; dropping them early saves their validation. */
function isNoise(method: string): boolean {
  return method === 'notifications/progress';
}
