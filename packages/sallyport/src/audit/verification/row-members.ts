import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';

/** Members of a row that its events repeat: the name in an event, and the value in the row. */
const MEMBERS: readonly (readonly [name: string, of: (record: InvocationRecord) => string | undefined])[] = [
  ['agent_did', ({ agentDid }) => agentDid],
  ['user_did', ({ userDid }) => userDid],
  ['session_id', ({ sessionId }) => sessionId],
  ['tool_id', ({ toolId }) => toolId],
  ['tool_version', ({ toolVersion }) => toolVersion],
  ['called_as', ({ calledAs }) => calledAs],
  ['input_hash', ({ inputHash }) => inputHash],
  ['door', ({ door }) => door],
  ['phase', ({ phase }) => phase],
  ['claim_source', ({ claimSource }) => claimSource],
  ['trust', ({ trust }) => trust],
  ['turn_group_id', ({ turnGroupId }) => turnGroupId],
  ['answered_by', ({ answeredBy }) => answeredBy],
];

/** Members that every event of a call has: where none has them, there is nothing to compare. */
const ALWAYS_PRESENT: ReadonlySet<string> = new Set(['agent_did', 'tool_id', 'door']);

/** Prefix of the text that replaces personal data and secrets in events; rows keep the owner of a call. */
const REDACTED = '[REDACTED';

/**
 * The name of a member in which the row and the events differ; undefined when there is none. The newest event may hold
 * less than earlier ones, when the call was cut off, or refused when it resumed. Then either may be right.
 * @param stateEvents the events that state the call's state
 * @param about all events about the call
 */
export function differingMember(
  record: InvocationRecord,
  stateEvents: readonly CloudEvent[],
  about: readonly CloudEvent[],
): string | undefined {
  for (const [name, of] of MEMBERS) {
    const value = of(record);
    const said = stateEvents.findLast(({ data }) => data[name] !== undefined)?.data[name];
    const isRedacted = typeof said === 'string' && said.includes(REDACTED);
    if (said === undefined && ALWAYS_PRESENT.has(name)) continue;
    if (value !== said && value !== stateEvents.at(-1)?.data[name] && !isRedacted) return name;
  }
  return saysOtherEffect(record, stateEvents, about) ? 'side_effect' : undefined;
}

/** Each run of a tool that is not pure has an event of its side effect besides the event of the run. */
function saysOtherEffect(
  { sideEffect }: InvocationRecord,
  stateEvents: readonly CloudEvent[],
  about: readonly CloudEvent[],
): boolean {
  const policies = about.flatMap(({ data }) => policyOf(data?.['side_effect']) ?? []);
  if (policies.length > 0) return policies.some((policy) => policy !== sideEffect);
  const ran = stateEvents.some(({ data }) => data['state'] === 'EXECUTING');
  return ran && sideEffect !== undefined && sideEffect !== 'pure';
}

function policyOf(said: unknown): unknown {
  return typeof said === 'object' && said !== null && 'policy' in said ? said.policy : undefined;
}
