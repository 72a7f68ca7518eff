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

/** What one request may do. */
export interface OutboundOptions {
  /** Rows of the call's grant; see `EgressGuard.admit`. */
  readonly allowed: readonly NetworkPermission[];
  readonly times?: Partial<OutboundTimes>;
  readonly signal: AbortSignal;
}

/** How much of an answer is read, by its head; what it throws ends the request with that error. */
export type AcceptHead = (head: AnswerHead) => BodyBounds;

/**
 * The layer's own way to HTTP services (EXT-03): every request goes to a target that the grant opens, over a connection
 * to an address that was checked, in bounded time. Redirects are answers like others: whoever follows one asks again.
 */
export interface OutboundHttp extends Disposable {
  /**
   * One request and its whole answer, whatever its status.
   * @throws ToolLayerError E3104 for a target outside the grant or that is not public, E3306 when the service is too slow,
   *   E3308 when it does not speak HTTP or its coding is broken, E3310 when it cannot be reached or hangs up, E3803 when
   *   too many requests wait for it, what `accept` throws, the reason of the signal when it fires
   */
  send(request: OutboundRequest, accept: AcceptHead, options: OutboundOptions): Promise<OutboundAnswer>;
  /** @throws ToolLayerError E3104 for a target that the rows do not open; see `EgressGuard.admit` */
  admit(url: URL, allowed: readonly NetworkPermission[]): void;
  /** The same, with the body still to come: `silenceMs` holds for it too. */
  open(request: OutboundRequest, options: OutboundOptions): Promise<OpenAnswer>;
}

/** What outbound HTTP stands on. */
export interface OutboundHttpParts {
  readonly guard: EgressGuard;
  readonly bounds?: Partial<ConnectionBounds>;
  readonly times?: Partial<OutboundTimes>;
  /** Certificate authorities in PEM that replace the ones Node brings. */
  readonly ca?: string | undefined;
}

/** Makes a way out; disposing it closes its connections. */
export function createOutboundHttp({ guard, bounds, times, ca }: OutboundHttpParts): OutboundHttp {
  const connections = createConnections(guard, { ...CONNECTION_DEFAULTS, ...bounds }, ca);
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
        throw networkFailure(thrown, flight.to, true);
      }
    },
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
}
