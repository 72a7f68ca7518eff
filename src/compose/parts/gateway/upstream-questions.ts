import type { ElicitationAnswer, ElicitationDesk } from '../../../mcp-servers/elicitation.port.ts';

/** Where questions of upstreams go: upstreams are there before any gateway, and gateways come and go. */
export interface UpstreamQuestions {
  /** For the upstreams. Declined while no gateway is open, and when none knows the client of the call. */
  readonly ask: ElicitationDesk;
  /** From now on this gateway is asked too, until disposed. */
  answeredBy(desk: ElicitationDesk): Disposable;
}

const DECLINE: ElicitationAnswer = { action: 'decline' };

/** No gateway is open yet. */
export function createUpstreamQuestions(): UpstreamQuestions {
  const desks = new Set<ElicitationDesk>();
  return {
    async ask(request, signal) {
      // A client is connected to one gateway: every other one declines, without asking anybody.
      for (const desk of desks) {
        const answer = await desk(request, signal);
        if (answer.action !== 'decline') return answer;
      }
      return DECLINE;
    },
    answeredBy(desk) {
      desks.add(desk);
      return { [Symbol.dispose]: () => void desks.delete(desk) };
    },
  };
}
