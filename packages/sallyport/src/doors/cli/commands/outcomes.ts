import type { Command } from 'commander';
import type { UnknownOutcome } from '../../../../api/schemas/calls/outcome.ts';
import type { CommandKit } from '../command-kit.ts';
import { operationCommands } from '../operation/operation-command.ts';
import type { Printer } from '../output/printer.ts';
import { list } from '../output/templates.ts';

/** `outcomes list|show|settle|reconcile`. */
export function addOutcomesCommands(program: Command, kit: CommandKit): void {
  const group = program.command('outcomes').description('calls of which nobody knows what they did');
  const operation = operationCommands(group, kit);
  operation('outcomes.list', {
    command: 'list',
    help: 'unknown outcomes that nobody has settled yet, the oldest first',
    print: list({
      head: ['CALL', 'TOOL', 'AGENT', 'ACCEPTED', 'OUTCOME'],
      rows: ({ outcomes }) => outcomes.map(rowOf),
      empty: 'There is no such call.',
    }),
  });
  operation('outcomes.get', {
    command: 'show',
    help: 'one call, with why its outcome is not known',
    print: printOutcome,
  });
  operation('outcomes.settle', { command: 'settle', args: ['invocation_id', 'outcome'], print: printOutcome });
  operation('outcomes.reconcile', {
    command: 'reconcile',
    args: ['invocation_id', 'tool_id'],
    members: { tool_version: false, capability_token: '--token <token>' },
    print: printOutcome,
  });
}

const rowOf = ({ invocation_id, tool_id, agent_did, accepted_at, settlement }: UnknownOutcome): string[] => [
  invocation_id,
  tool_id,
  agent_did,
  accepted_at,
  settlement?.outcome ?? 'not known',
];

function printOutcome(
  { invocation_id, tool_id, tool_version, error, settlement, ...more }: UnknownOutcome,
  print: Printer,
): void {
  const rows = [
    ['call', invocation_id],
    ['tool', tool_version === undefined ? tool_id : `${tool_id} ${tool_version}`],
    ['agent', more.agent_did],
    ['accepted', more.accepted_at],
    ['error', `${error.e_code} ${error.message}`],
    ['outcome', settlement?.outcome ?? 'not known'],
  ];
  if (settlement !== undefined) {
    rows.push(['settled', `${settlement.settled_at} by ${settlement.settled_by ?? 'the layer'} (${settlement.how})`]);
    if (settlement.note !== undefined) rows.push(['note', settlement.note]);
  }
  print.table(['', ''], rows);
}
