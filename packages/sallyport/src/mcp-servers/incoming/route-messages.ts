import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { FIRST_ID, type RequestTable } from '../connection/request-table.ts';
import { createFloodGate } from '../pacing/flood-gate.ts';
import type { ServerRequests } from './server-requests.ts';

/** What a server may send that nobody asked for, in one window; beyond it the connection ends. */
export const UNSOLICITED_BOUNDS = { itemsMax: 20_000, bytesMax: 64 * MiB, windowMs: 10_000 } as const;

/** What a connection has seen. */
export interface SeenMessages {
  /** Answers to requests that do not wait. */
  strayAnswers: number;
  /** Whether the server said anything to the probe that asks for the newer protocol. */
  probeAnswered: boolean;
}

/** To whom messages go. */
export interface RouteParts {
  readonly clock: Clock;
  readonly table: Pick<RequestTable, 'progress' | 'settle'>;
  readonly serverRequests: ServerRequests;
  /** Where the SDK client listens. */
  readonly control: Transport;
  /** Length of the message that is being delivered, in bytes; 0 where the transport does not know. */
  messageBytes(): number;
  /** Our request on whose own stream the message came; undefined where streams are shared. */
  sentOn(): number | undefined;
  /** Whether the server speaks 2026-07-28 or later, in which it sends no requests and is sent no answers. */
  isModern(): boolean;
  onFlood(): void;
}

type Message = JSONRPCMessage & Readonly<Record<'id' | 'method' | 'params', unknown>>;

/**
 * Gives each message to whom it concerns: our own requests, what answers the server's requests, or the SDK client. What is
 * no message of JSON-RPC after all counts as unsolicited, and never throws.
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
    } else if (!isNoise(method)) {
      if (method === 'notifications/cancelled') serverRequests.cancelled(params);
      control.onmessage?.(received, extra);
    }
  };
}

/** Ids that the SDK client gives: small numbers, and a text for its probe. */
function isControlId(id: unknown): boolean {
  return typeof id === 'number' ? id < FIRST_ID : typeof id === 'string' && id.startsWith('server-discover-probe-');
}

/** Notifications that nothing here listens to; dropping them early spares their validation. */
function isNoise(method: string): boolean {
  return (
    method === 'notifications/message' ||
    method === 'notifications/progress' ||
    method.startsWith('notifications/resources/') ||
    method.startsWith('notifications/prompts/')
  );
}
