import { type Command, InvalidArgumentError } from 'commander';
import type { CallListRequest, ListedCall } from '../../../../../api/schemas/calls/call-list.ts';
import { LifecycleState } from '../../../../../api/schemas/invocation.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { count, seconds } from '../../input/option-values.ts';

interface ListOptions {
  readonly state?: CallListRequest['state'];
  readonly tool?: string;
  readonly agent?: string;
  readonly since?: string;
  readonly until?: string;
  readonly cursor?: string;
  readonly limit?: number;
}

/** `calls list`: the calls on record, the last accepted first. */
export function addListCommand(calls: Command, kit: CommandKit): void {
  const list = calls
    .command('list')
    .description('calls on record, the last first')
    .option('--state <state,...>', `only in these states: ${LifecycleState.enum.join(', ')}`, states)
    .option('--tool <id>', 'of one tool')
    .option('--agent <did>', 'of one agent')
    .option('--since <time>', 'accepted at this time or later: 1h (ago), or 2026-01-31T12:00:00Z', time)
    .option('--until <time>', 'accepted before this time', time)
    .option('--cursor <cursor>', 'the last call of the previous page, as that page said it')
    .option('--limit <n>', 'how many, 50 when absent, 200 at most', count);
  kit.asking<ListOptions>(list, async ({ layer, caller, print }, _args, options) => {
    const { state, tool: tool_id, agent: agent_did, since, until, cursor, limit } = options;
    const given = { state, tool_id, agent_did, since, until, cursor, limit };
    const said = Object.entries(given).filter(([, value]) => value !== undefined);
    const { invocations, next } = await layer.ask('invocations.list', Object.fromEntries(said), caller);
    if (print.json) print.value({ invocations, ...(next === undefined ? {} : { next }) });
    else if (invocations.length === 0) print.note('No call is on record that fits.');
    else {
      print.table(['CALL', 'TOOL', 'STATE', 'ERROR', 'AGENT', 'ACCEPTED', 'MS'], invocations.map(rowOf));
      if (next !== undefined) print.note(`More: --cursor ${next}`);
    }
    return EXIT.ok;
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

/** A time, or a duration before now, as ISO 8601. */
function time(text: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Date.now() - seconds(text) * 1_000;
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) throw new InvalidArgumentError('Write a time such as 2026-01-31T12:00:00Z, or 1h.');
  return at.toISOString();
}
