import { InvalidArgumentError } from 'commander';
import type { CallListRequest, ListedCall } from '../../../../../api/schemas/calls/call-list.ts';
import { LifecycleState } from '../../../../../api/schemas/invocation.ts';
import { seconds } from '../../input/option-values.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import { list } from '../../output/templates.ts';

/** `calls list`: the calls on record, newest first. */
export function addListCommand(operation: AddOperation): void {
  operation('invocations.list', {
    command: 'list',
    help: 'calls on record, the last first',
    members: {
      state: {
        flags: '--state <state,...>',
        help: `only in these states: ${LifecycleState.enum.join(', ')}`,
        parse: states,
      },
      since: { help: 'accepted at this time or later: 1h (ago), or 2026-01-31T12:00:00Z', parse: time },
      until: { parse: time },
    },
    print: list({
      head: ['CALL', 'TOOL', 'STATE', 'ERROR', 'AGENT', 'ACCEPTED', 'MS'],
      rows: ({ invocations }) => invocations.map(rowOf),
      empty: 'No call is on record that fits.',
      more: '--cursor',
    }),
  });
}

function rowOf({ invocation_id, tool_id, tool_version, state, e_code = '', ...more }: ListedCall): string[] {
  const { agent_did, user_did, accepted_at, duration_ms } = more;
  return [
    invocation_id,
    tool_version === undefined ? tool_id : `${tool_id} ${tool_version}`,
    state,
    e_code,
    user_did === undefined ? agent_did : `${agent_did} for ${user_did}`,
    accepted_at,
    duration_ms === undefined ? '' : String(Math.round(duration_ms)),
  ];
}

function states(text: string): CallListRequest['state'] {
  const wanted = text.split(',').map((each) => each.trim().toUpperCase());
  const known: readonly string[] = LifecycleState.enum;
  const unknown = wanted.filter((each) => !known.includes(each));
  if (unknown.length > 0) throw new InvalidArgumentError(`There is no state ${unknown.join(', ')}.`);
  return wanted as CallListRequest['state'];
}

/** Converts a time, or a duration before now, to ISO 8601. */
function time(text: string): string {
  const isTime = !/^-?[\d.]+[a-z]*$/.test(text);
  const ms = isTime ? Date.parse(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : '') : Date.now() - seconds(text) * 1_000;
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('Write a time such as 2026-01-31T12:00:00Z, or 1h.');
  return at.toISOString();
}
