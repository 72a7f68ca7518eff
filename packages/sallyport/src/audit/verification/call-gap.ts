import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { CloudEvent, EventType } from '../../../api/schemas/cloud-event.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { differingMember } from './row-members.ts';

/** Events that state the state of a call; each call on record has at least one of them. */
export const STATE_EVENTS: ReadonlySet<string> = new Set<EventType>([
  'ai.agent.tool.state_changed',
  'ai.agent.tool.invoked',
  'ai.agent.tool.succeeded',
  'ai.agent.tool.failed',
  'ai.agent.tool.timeout',
  'ai.agent.tool.rolled_back',
]);

/**
 * The contradiction between a call's row and its events, in words for an auditor (AUD-07); undefined when they agree.
 * @param about all events about the call; those of one chain in order
 */
export function gapOf(record: InvocationRecord, about: readonly CloudEvent[]): string | undefined {
  const { state, heldEvents } = record;
  const stateEvents = about.filter(({ type, data }) => STATE_EVENTS.has(type) && typeof data?.['state'] === 'string');
  const twice = duplicateState(stateEvents);
  if (twice !== undefined) return twice;
  const isOver = isFinal(state);
  if (!isOver && stateEvents.some(({ data }) => ENDS.has(String(data['state']))))
    return `its row says ${state}, and the chain records its end`;
  // A running call: its row holds its first events, which the chain does not have yet (system design §4).
  if (!isOver && heldEvents !== undefined) return undefined;
  if (stateEvents.length === 0) return 'it has a row, and no chain records it';
  if (!stateEvents.some(({ data }) => data['state'] === 'DECLARED')) return 'the chain does not tell how it began';
  const end = isOver ? stateEvents.findLast(({ data }) => data['state'] === state) : undefined;
  if (isOver && end === undefined) return `its row says ${state}, and the chain records no such end`;
  const differing = differingMember(record, stateEvents, about);
  if (differing !== undefined) return `its row says something else of ${differing} than the chain`;
  return end === undefined ? undefined : gapInResult(record, end);
}

/** End events, of which a call has one. A rollback event may follow, and may be written again after a crash. */
const ENDS: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'DENIED', 'ABORTED']);

function duplicateState(stateEvents: readonly CloudEvent[]): string | undefined {
  // One event may be in two chains: that of an instance, and that of another one which took the first for dead.
  const each = new Map(stateEvents.map(({ id, data }) => [id, String(data['state'])]));
  const states = [...each.values()];
  if (states.filter((state) => state === 'DECLARED').length > 1) return 'the chain records two beginnings of it';
  const ends = states.filter((state) => ENDS.has(state));
  if (ends.length > 1 || (ends[0] === 'COMPLETED' && states.includes('ROLLED_BACK')))
    return 'the chain records two ends of it';
  return undefined;
}

/**
 * Checks that the chain has the hash of what the row holds: of the result itself, and of the kept part of a cut result.
 */
function gapInResult(record: InvocationRecord, { data }: CloudEvent): string | undefined {
  const { outputHash, resultForgottenAt } = record;
  if (data['output_hash'] !== outputHash) return 'its row has another hash of the result than the chain';
  if (!('result' in record) && (outputHash === undefined || resultForgottenAt !== undefined)) return undefined;
  const held = sha256(canonicalJson(record.result));
  return held === (data['output_kept_hash'] ?? outputHash)
    ? undefined
    : 'its row holds another result than the chain has the hash of';
}
