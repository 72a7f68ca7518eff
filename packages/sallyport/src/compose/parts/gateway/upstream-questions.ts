import type { AskedClient, ElicitationAnswer, ElicitationAsker } from '../../../mcp-servers/elicitation.port.ts';

/** Where questions of upstreams go: upstreams are there before any gateway, and gateways come and go. */
export interface UpstreamQuestions extends ElicitationAsker {
  /** From now on this gateway is asked too, until disposed. */
  answeredBy(desk: ElicitationAsker): Disposable;
}

/** No gateway is open yet. */
export function createUpstreamQuestions(): UpstreamQuestions {
  const desks = new Set<ElicitationAsker>();
  return {
    async ask(request, signal): Promise<ElicitationAnswer> {
      const reasons = new Set<string>();
      // A client is connected to one gateway: every other one says that it has nobody to ask.
      for (const desk of desks) {
        const answer = await desk.ask(request, signal);
        if (!('unasked' in answer)) return answer;
        reasons.add(answer.unasked);
      }
      return { action: 'cancel', unasked: reasons.size === 0 ? 'no gateway is open' : [...reasons].join('; ') };
    },
    clientOf(tenantId, invocationId): AskedClient | undefined {
      for (const desk of desks) {
        const client = desk.clientOf(tenantId, invocationId);
        if (client !== undefined) return client;
      }
      return undefined;
    },
    answeredBy(desk) {
      desks.add(desk);
      return { [Symbol.dispose]: () => void desks.delete(desk) };
    },
  };
}
