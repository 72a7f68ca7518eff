import type { NetworkPermission } from '../../api/schemas/tool-manifest.ts';
import type { EgressGuard } from './egress-guard.ts';
import { answerOf, type Flight } from './outbound/attempt.ts';
import { createConnections } from './outbound/connections.ts';
import type { AnswerHead, OpenAnswer, OutboundAnswer, OutboundRequest } from './outbound/exchange.ts';
import { networkFailure } from './outbound/network-failures.ts';
import { type BodyBounds, receiveBody } from './outbound/receive-body.ts';
import { CONNECTION_DEFAULTS, type ConnectionBounds, OUTBOUND_TIMES, type OutboundTimes } from './outbound/settings.ts';

export type { AnswerHead, BodyBounds, ConnectionBounds, OpenAnswer, OutboundAnswer, OutboundRequest, OutboundTimes };
export { CONNECTION_DEFAULTS, OUTBOUND_TIMES };

/** Options of one request. */
export interface OutboundOptions {
  /** Rows of the call's grant; see `EgressGuard.admit`. */
  readonly allowed: readonly NetworkPermission[];
  readonly times?: Partial<OutboundTimes>;
  readonly signal: AbortSignal;
}

/** Decides from an answer's head how much of the body is read; a thrown error ends the request. */
export type AcceptHead = (head: AnswerHead) => BodyBounds;

/**
 * The layer's HTTP client (EXT-03): every request goes to a target that the grant permits, over a connection to a
 * checked address, in limited time. Redirects are returned as answers: following one is a new request.
 */
export interface OutboundHttp extends Disposable {
  /**
   * One request and its whole answer, whatever its status.
   * @throws ToolLayerError E3104 for a target outside the grant or that is not public, E3306 when the service is too slow,
   *   E3308 when it does not speak HTTP or its coding is broken, E3310 when it cannot be reached or breaks its answer off, E3803 when
   *   too many requests wait for it, what `accept` throws, the reason of the signal when it fires
   */
  send(request: OutboundRequest, accept: AcceptHead, options: OutboundOptions): Promise<OutboundAnswer>;
  /** @throws ToolLayerError E3104 for a target that the rows do not open; see `EgressGuard.admit` */
  admit(url: URL, allowed: readonly NetworkPermission[]): void;
  /** As `send`, with the body still to be read: `silenceMs` applies to it too. */
  open(request: OutboundRequest, options: OutboundOptions): Promise<OpenAnswer>;
}

/** Dependencies of outbound HTTP. */
export interface OutboundHttpParts {
  readonly guard: EgressGuard;
  readonly bounds?: Partial<ConnectionBounds>;
  readonly times?: Partial<OutboundTimes>;
}

/** Makes an HTTP client; disposing it closes its connections. */
export function createOutboundHttp({ guard, bounds, times }: OutboundHttpParts): OutboundHttp {
  const connections = createConnections(guard, { ...CONNECTION_DEFAULTS, ...bounds });
  const usual = { ...OUTBOUND_TIMES, ...times };

  const flightOf = (request: OutboundRequest, options: OutboundOptions): Flight => ({
    connections,
    request,
    to: guard.admit(request.url, options.allowed),
    signal: options.signal,
    times: options.times === undefined ? usual : { ...usual, ...options.times },
  });
  return {
    admit: (url, allowed) => void guard.admit(url, allowed),
    open: async (request, options) => await answerOf(flightOf(request, options)),
    async send(request, accept, options) {
      const flight = flightOf(request, options);
      const answer = await answerOf(flight);
      const { status, headers, message } = answer;
      try {
        const received = await receiveBody(message, accept({ status, headers }));
        return { status, headers, ...received, ...answer.traffic() };
      } catch (thrown) {
        message.destroy();
        throw networkFailure(thrown, flight.to, 'answer');
      }
    },
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
}
