import type { Command } from 'commander';
import type { ToolView, ViewDetail } from '../../../../../api/schemas/visibility.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { readObjects } from '../../input/read-json.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';
import { list } from '../../output/templates.ts';

/** `views list|show|put|remove`. */
export function addViewsCommands(program: Command, kit: CommandKit): void {
  const group = program.command('views').description('see and change curated sets of tools for agents');
  const operation = operationCommands(group, kit);
  operation('views.list', {
    command: 'list',
    help: 'the views',
    print: list({
      head: ['VIEW', 'TOOLS', 'DROPPED', 'CONFLICT', 'AGENTS'],
      rows: ({ views }) =>
        views.map(({ name, tool_count, dropped_count, conflict, agents }) => [
          name,
          String(tool_count),
          String(dropped_count),
          conflict,
          agents.join(' '),
        ]),
      empty: 'There are no views: agents see every tool that they may use.',
    }),
  });
  operation('views.get', { command: 'show', print: printView });
  addPutCommand(group, kit);
  operation('views.remove', {
    command: 'remove',
    succeeded: ({ removed }) => removed,
    print: ({ removed, name }, print) =>
      removed ? print.line(`Removed the view ${name}`) : print.note(`There is no view ${name}.`),
  });
}

function addPutCommand(views: Command, kit: CommandKit): void {
  const put = views
    .command('put')
    .description('make or replace the views in a JSON or YAML file')
    .argument('<file>', 'one view or a list of them; - for standard input');
  kit.adding(put, async ({ layer, caller, print, parts }, [file]) => {
    const details: ViewDetail[] = [];
    // The layer checks whether a view is well formed.
    for (const view of await readObjects(String(file), parts.io, 'view')) {
      const detail = await layer.ask('views.put', { view: view as ToolView }, caller);
      details.push(detail);
      if (!print.json) printView(detail, print);
    }
    if (print.json) print.value(details.length === 1 ? details[0] : details);
    return EXIT.ok;
  });
}

function printView({ view, tools, dropped }: ViewDetail, print: Printer): void {
  print.line(`${view.name}: ${tools.length} tools for ${view.agents.join(', ') || 'no agent yet'}`, 'strong');
  print.table(
    ['NAME', 'TOOL', 'VERSION'],
    tools.map(({ name, tool_id, version }) => [name, tool_id, version]),
  );
  for (const { source, tool, reason } of dropped) print.note(`dropped ${tool} of ${source}: ${reason}`);
}
