import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { AttemptEnd, CircuitAnswer, CircuitPermit } from '../../../../domain/circuit/circuit.ts';
import type { CircuitTerms } from '../../../../domain/circuit/circuit-terms.ts';
import { countsAs } from '../../../../domain/circuit/counts.ts';
import type { OwnRequest } from '../../../../domain/circuit/own-request.ts';
import type { CircuitStore } from '../../../../external/circuit-store.port.ts';
import { lostReport, type NotedCircuit, type NoteParts, noteChange, unknownState } from './circuit-notes.ts';
import { patienceOf } from './circuit-of.ts';
import { refusalOf } from './circuit-refusals.ts';

/** Dependencies of a request of the layer's own. */
export interface OwnRequestParts extends NoteParts {
  readonly store: Pick<CircuitStore, 'permit' | 'report'>;
  readonly terms: CircuitTerms;
  readonly unknownState: 'open' | 'closed';
}

/** How long beyond its timeout a request may hold a trial. */
const HELD_BEYOND_MS = 30_000;

/**
 * Makes a request through the circuit of its service. No call holds a trial beyond it: each permit ends with the request.
 * @throws ToolLayerError E3401 E3402 when it may not be made; what `work` throws
 */
export async function ownRequest<Answer>(
  parts: OwnRequestParts,
  request: OwnRequest,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const { terms, clock } = parts;
  const { service: name, tenantId, agentDid, timeoutMs, signal } = request;
  const patienceMs = patienceOf(timeoutMs, terms);
  const changed = { tenantId, name, by: { agent_did: agentDid } };
  const permit = await permitOf(parts, changed, timeoutMs + HELD_BEYOND_MS);
  if (permit === undefined) return work();
  const begunAt = clock.monotonic();
  const ended = async (endOf: (durationMs: number) => AttemptEnd): Promise<void> => {
    const durationMs = clock.monotonic() - begunAt;
    try {
      const change = await parts.store.report(tenantId, name, permit, { end: endOf(durationMs), durationMs });
      if (change !== undefined) await noteChange(parts, changed, change);
    } catch (thrown) {
      lostReport(parts, name, thrown);
    }
  };
  try {
    const answer = await work();
    await ended(() => 'success');
    return answer;
  } catch (thrown) {
    const { code } = failureOf(signal.aborted ? signal.reason : thrown);
    await ended((durationMs) => countsAs(code, Math.min(durationMs, timeoutMs), patienceMs));
    throw thrown;
  }
}

/**
 * @returns undefined where the state is not known and counts as closed
 * @throws ToolLayerError E3401 E3402
 */
async function permitOf(
  parts: OwnRequestParts,
  changed: NotedCircuit,
  heldMsMax: number,
): Promise<CircuitPermit | undefined> {
  let answer: CircuitAnswer;
  try {
    answer = await parts.store.permit(changed.tenantId, changed.name, parts.terms, heldMsMax);
  } catch (thrown) {
    const unknown = unknownState(parts, changed.name, thrown);
    if (unknown === undefined) return undefined;
    throw ToolLayerError.of(unknown);
  }
  if (!answer.permitted) throw ToolLayerError.of(refusalOf(changed.name, answer, false));
  if (answer.change !== undefined) await noteChange(parts, changed, answer.change);
  return answer;
}
