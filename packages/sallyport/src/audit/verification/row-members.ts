import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';

/** Members of a row that its events repeat: the name in an event, and what the row says. */
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

/** Every event of a call says these: where none does, there is nothing to compare. */
const ALWAYS_TOLD: ReadonlySet<string> = new Set(['agent_did', 'tool_id', 'door']);

/** What stands in an event in place of personal data and secrets; rows keep who a call belongs to. */
const REDACTED = '[REDACTED';

/**
 * The name of a member of which the row and the events say different things; undefined when there is none. The newest event
 * may say less than those before it: of a call that was cut off, or refused when it came up again. Then either may be right.
 * @param told the events that say in which state the call is
 * @param about all events about the call
 */
export function differingMember(
  record: InvocationRecord,
  told: readonly CloudEvent[],
  about: readonly CloudEvent[],
): string | undefined {
  for (const [name, of] of MEMBERS) {
    const value = of(record);
    const said = told.findLast(({ data }) => data[name] !== undefined)?.data[name];
    const isRedacted = typeof said === 'string' && said.includes(REDACTED);
    if (said === undefined && ALWAYS_TOLD.has(name)) continue;
    if (value !== said && value !== told.at(-1)?.data[name] && !isRedacted) return name;
  }
  return saysOtherEffect(record, told, about) ? 'side_effect' : undefined;
}

/** Each tool that is not pure has an event of its side effect beside the one that it runs. */
function saysOtherEffect(
  { sideEffect }: InvocationRecord,
  told: readonly CloudEvent[],
  about: readonly CloudEvent[],
): boolean {
  const policies = about.flatMap(({ data }) => policyOf(data?.['side_effect']) ?? []);
  if (policies.length > 0) return policies.some((policy) => policy !== sideEffect);
  const ran = told.some(({ data }) => data['state'] === 'EXECUTING');
  return ran && sideEffect !== undefined && sideEffect !== 'pure';
}

function policyOf(said: unknown): unknown {
  return typeof said === 'object' && said !== null && 'policy' in said ? said.policy : undefined;
}
