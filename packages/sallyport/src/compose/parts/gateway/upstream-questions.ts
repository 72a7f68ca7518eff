import type { AskedClient, ElicitationAnswer, ElicitationAsker } from '../../../mcp-servers/elicitation.port.ts';

/** Passes questions of upstreams to gateways: upstreams exist before any gateway, and gateways come and go. */
export interface UpstreamQuestions extends ElicitationAsker {
  /** Adds a gateway that is asked too, until disposed. */
  answeredBy(asker: ElicitationAsker): Disposable;
}

/** Begins without any gateway. */
export function createUpstreamQuestions(): UpstreamQuestions {
  const askers = new Set<ElicitationAsker>();
  return {
    async ask(request, signal): Promise<ElicitationAnswer> {
      const reasons = new Set<string>();
      // A client is connected to one gateway; all others report that they have nobody to ask.
      for (const asker of askers) {
        const answer = await asker.ask(request, signal);
        if (!('unasked' in answer)) return answer;
        reasons.add(answer.unasked);
      }
      return { action: 'cancel', unasked: reasons.size === 0 ? 'no gateway is open' : [...reasons].join('; ') };
    },
    clientOf(tenantId, invocationId): AskedClient | undefined {
      for (const asker of askers) {
        const client = asker.clientOf(tenantId, invocationId);
        if (client !== undefined) return client;
      }
      return undefined;
    },
    answeredBy(asker) {
      askers.add(asker);
      return { [Symbol.dispose]: () => void askers.delete(asker) };
    },
  };
}
