import {
  type AttemptEnd,
  askCircuit,
  type CircuitPermit,
  newCircuit,
  reportToCircuit,
  viewOfCircuit,
} from './circuit.ts';
import { CIRCUIT_DEFAULTS, type CircuitTerms } from './circuit-terms.ts';

/** How long a trial call may occupy a half-open circuit, ms. */
export const HELD_MS = 60_000;

/** A circuit with a clock that the test moves. */
export function circuitBench(terms: Partial<CircuitTerms> = {}) {
  const circuit = newCircuit({ ...CIRCUIT_DEFAULTS, ...terms }, { last: 0 }, 0);
  let nowMs = 0;
  const ask = () => askCircuit(circuit, nowMs, HELD_MS);
  const permit = (): CircuitPermit => {
    const answer = ask();
    if (!answer.permitted) throw new Error(`refused: ${answer.state}`);
    return answer;
  };
  const end = (held: CircuitPermit, how: AttemptEnd, durationMs = 1) =>
    reportToCircuit(circuit, held, { end: how, durationMs, nowMs });
  return {
    circuit,
    ask,
    permit,
    end,
    call: (how: AttemptEnd, durationMs?: number) => end(permit(), how, durationMs),
    turn: (ms: number) => {
      nowMs += ms;
    },
    view: () => viewOfCircuit(circuit, nowMs),
  };
}
