import type { Command } from 'commander';
import type { VisibilityListRequest, VisibleTool } from '../../../../../api/schemas/visibility.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { count, oneOf } from '../../input/option-values.ts';
import { usageError } from '../../input/usage-error.ts';

type List = VisibilityListRequest['list'];
const LISTS: readonly List[] = ['catalog', 'tenant-available', 'agent-enabled', 'agent-unavailable'];

/** `availability list|set|tools`. */
export function addAvailabilityCommands(program: Command, kit: CommandKit): void {
  const availability = program.command('availability').description('see and say which tools the tenant has');
  addListCommand(availability, kit);
  addSetCommand(availability, kit);
  addToolsCommand(availability, kit);
}

function addListCommand(availability: Command, kit: CommandKit): void {
  const list = availability.command('list').description('what was said so far; a tool of the tenant needs no word');
  kit.asking(list, async ({ layer, caller, print }) => {
    const answer = await layer.ask('availability.list', {}, caller);
    if (print.json) print.value(answer);
    else if (answer.availability.length === 0) print.note('Nothing was said of the availability of tools.');
    else {
      print.table(
        ['TOOL', 'AVAILABLE', 'SINCE', 'REASON'],
        answer.availability.map((said) => [
          said.tool_id,
          said.available ? 'yes' : 'no',
          said.changed_at,
          said.reason ?? '',
        ]),
      );
    }
    return EXIT.ok;
  });
}

function addSetCommand(availability: Command, kit: CommandKit): void {
  const set = availability
    .command('set')
    .description('make a tool available to the tenant, or unavailable')
    .argument('<tool-id>')
    .argument('<on|off>')
    .option('--reason <text>', 'why, for people and agents');
  kit.adding<{ readonly reason?: string }>(set, async ({ layer, caller, print }, [toolId, word], { reason }) => {
    if (word !== 'on' && word !== 'off') throw usageError('Say on or off after the id of the tool.');
    const input = { tool_id: String(toolId), available: word === 'on', ...(reason === undefined ? {} : { reason }) };
    const said = await layer.ask('availability.set', input, caller);
    if (print.json) print.value(said);
    else print.line(`${said.tool_id} is ${said.available ? 'available' : 'not available'} to the tenant`);
    return EXIT.ok;
  });
}

interface ToolsOptions {
  readonly list: List;
  readonly agent?: string;
  readonly page?: number;
}

function addToolsCommand(availability: Command, kit: CommandKit): void {
  const tools = availability
    .command('tools')
    .description('the tools of one tier, or those that an agent lacks, with the reason')
    .option('--list <name>', LISTS.join(', '), oneOf(LISTS), 'tenant-available')
    .option('--agent <did>', 'the agent that the list is about')
    .option('--page <n>', 'which page', count);
  kit.asking<ToolsOptions>(tools, async ({ layer, caller, print }, _args, { list, agent, page }) => {
    const input = {
      list,
      ...(agent === undefined ? {} : { agent_did: agent }),
      ...(page === undefined ? {} : { page }),
    };
    const answer = await layer.ask('visibility.list', input, caller);
    if (print.json) print.value(answer);
    else if (answer.tools.length === 0) print.note('There is no such tool.');
    else {
      print.table(['NAME', 'TOOL', 'VERSION', 'DESCRIPTION'], answer.tools.map(rowOf));
      const pages = Math.ceil(answer.total_count / answer.page_size);
      if (pages > 1) print.note(`Page ${answer.page} of ${pages}, ${answer.total_count} tools`);
    }
    return EXIT.ok;
  });
}

const rowOf = ({ name, tool_id, version, description, why_unavailable }: VisibleTool): string[] => [
  name,
  tool_id === name ? '' : tool_id,
  version,
  why_unavailable === undefined ? description : `(${why_unavailable.code}) ${why_unavailable.message}`,
];
