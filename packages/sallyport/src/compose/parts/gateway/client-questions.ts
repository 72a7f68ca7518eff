import type { ClientAnswer, ClientAsker } from '../../../domain/questions/client-question.ts';

/** Passes questions of tools to gateways: tools exist before any gateway, and gateways come and go. */
export interface ClientQuestions extends ClientAsker {
  /** Adds a gateway that is asked too, until disposed. */
  answeredBy(asker: ClientAsker): Disposable;
}

/** Begins without any gateway. */
export function createClientQuestions(): ClientQuestions {
  const askers = new Set<ClientAsker>();
  return {
    async ask(question, signal): Promise<ClientAnswer> {
      const reasons = new Set<string>();
      // A client is connected to one gateway; all others report that they have nobody to ask.
      for (const asker of askers) {
        const answer = await asker.ask(question, signal);
        if (!('unasked' in answer)) return answer;
        reasons.add(answer.unasked);
      }
      return { unasked: reasons.size === 0 ? 'no gateway is open' : [...reasons].join('; ') };
    },
    clientOf(tenantId, invocationId) {
      for (const asker of askers) {
        const client = asker.clientOf(tenantId, invocationId);
        if (client !== undefined) return client;
      }
      return undefined;
    },
    completed(elicitationId) {
      for (const asker of askers) asker.completed(elicitationId);
    },
    answeredBy(asker) {
      askers.add(asker);
      return { [Symbol.dispose]: () => void askers.delete(asker) };
    },
  };
}
