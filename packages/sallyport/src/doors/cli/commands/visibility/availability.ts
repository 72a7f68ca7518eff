import type { Command } from 'commander';
import type { VisibleTool } from '../../../../../api/schemas/visibility.ts';
import type { CommandKit } from '../../command-kit.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { list } from '../../output/templates.ts';

/** `availability list|set|tools`. */
export function addAvailabilityCommands(program: Command, kit: CommandKit): void {
  const group = program.command('availability').description('see and say which tools the tenant has');
  const operation = operationCommands(group, kit);
  operation('availability.list', {
    command: 'list',
    help: 'what was said so far; a tool of the tenant needs no word',
    print: list({
      head: ['TOOL', 'AVAILABLE', 'SINCE', 'REASON'],
      rows: ({ availability }) =>
        availability.map(({ tool_id, available, changed_at, reason = '' }) => [
          tool_id,
          available ? 'yes' : 'no',
          changed_at,
          reason,
        ]),
      empty: 'Nothing was said of the availability of tools.',
    }),
  });
  operation('availability.set', {
    command: 'set',
    args: ['tool_id', 'available'],
    whenAbsent: 'make',
    print: ({ tool_id, available }, print) =>
      print.line(`${tool_id} is ${available ? 'available' : 'not available'} to the tenant`),
  });
  const tools = list({
    head: ['NAME', 'TOOL', 'VERSION', 'DESCRIPTION'],
    rows: (answer: { readonly tools: readonly VisibleTool[] }) => answer.tools.map(rowOf),
    empty: 'There is no such tool.',
  });
  operation('visibility.list', {
    command: 'tools',
    members: { list: { default: 'tenant-available' } },
    print: (answer, print) => {
      tools(answer, print);
      const { page, page_size, total_count } = answer;
      const pages = Math.ceil(total_count / page_size);
      if (answer.tools.length > 0 && pages > 1) print.note(`Page ${page} of ${pages}, ${total_count} tools`);
    },
  });
}

const rowOf = ({ name, tool_id, version, description, why_unavailable }: VisibleTool): string[] => [
  name,
  tool_id === name ? '' : tool_id,
  version,
  why_unavailable === undefined ? description : `(${why_unavailable.code}) ${why_unavailable.message}`,
];
