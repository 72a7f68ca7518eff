import type { Command } from 'commander';
import type { ToolView, ViewDetail } from '../../../../../api/schemas/visibility.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { readObjects } from '../../input/read-json.ts';
import type { Printer } from '../../output/printer.ts';

/** `views list|show|put|remove`. */
export function addViewsCommands(program: Command, kit: CommandKit): void {
  const views = program.command('views').description('see and change curated sets of tools for agents');
  addListCommand(views, kit);
  const show = views
    .command('show')
    .description('one view, with the tools that it shows and those that it dropped')
    .argument('<name>');
  kit.asking(show, async ({ layer, caller, print }, [name]) => {
    const detail = await layer.ask('views.get', { name: String(name) }, caller);
    if (print.json) print.value(detail);
    else tell(detail, print);
    return EXIT.ok;
  });
  addPutCommand(views, kit);
  const remove = views.command('remove').description('remove a view').argument('<name>');
  kit.asking(remove, async ({ layer, caller, print }, [name]) => {
    const answer = await layer.ask('views.remove', { name: String(name) }, caller);
    if (print.json) print.value(answer);
    else if (answer.removed) print.line(`Removed the view ${answer.name}`);
    else print.note(`There is no view ${answer.name}.`);
    return answer.removed ? EXIT.ok : EXIT.refused;
  });
}

function addListCommand(views: Command, kit: CommandKit): void {
  const list = views.command('list').description('the views');
  kit.asking(list, async ({ layer, caller, print }) => {
    const answer = await layer.ask('views.list', {}, caller);
    if (print.json) print.value(answer);
    else if (answer.views.length === 0) print.note('There are no views: agents see every tool that they may use.');
    else {
      print.table(
        ['VIEW', 'TOOLS', 'DROPPED', 'CONFLICT', 'AGENTS'],
        answer.views.map((view) => [
          view.name,
          String(view.tool_count),
          String(view.dropped_count),
          view.conflict,
          view.agents.join(' '),
        ]),
      );
    }
    return EXIT.ok;
  });
}

function addPutCommand(views: Command, kit: CommandKit): void {
  const put = views
    .command('put')
    .description('make or replace the views in a JSON or YAML file')
    .argument('<file>', 'one view or a list of them; - for standard input');
  kit.adding(put, async ({ layer, caller, print, parts }, [file]) => {
    const details: ViewDetail[] = [];
    // Whether a view is well formed is for the layer to say.
    for (const view of await readObjects(String(file), parts.io, 'view')) {
      const detail = await layer.ask('views.put', { view: view as ToolView }, caller);
      details.push(detail);
      if (!print.json) tell(detail, print);
    }
    if (print.json) print.value(details.length === 1 ? details[0] : details);
    return EXIT.ok;
  });
}

function tell({ view, tools, dropped }: ViewDetail, print: Printer): void {
  print.line(`${view.name}: ${tools.length} tools for ${view.agents.join(', ') || 'no agent yet'}`, 'strong');
  print.table(
    ['NAME', 'TOOL', 'VERSION'],
    tools.map(({ name, tool_id, version }) => [name, tool_id, version]),
  );
  for (const { source, tool, reason } of dropped) print.note(`dropped ${tool} of ${source}: ${reason}`);
}
