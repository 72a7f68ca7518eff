import type { Command } from 'commander';
import type { ToolLifecycleResponse } from '../../../../../api/schemas/registry/tool-lifecycle.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { HISTORY_HEAD, historyRow } from '../../output/history.ts';
import type { Printer } from '../../output/printer.ts';

interface VersionOptions {
  readonly version?: string;
  readonly reason?: string;
}

interface DeprecateOptions extends VersionOptions {
  readonly inFavorOf?: string;
  readonly guide?: string;
}

/** `tools deprecate|sunset|restore|remove`. */
export function addToolsLifecycleCommands(tools: Command, kit: CommandKit): void {
  addDeprecate(tools, kit);

  const sunset = versioned(tools, 'sunset', 'announce the end of deprecated versions');
  kit.asking<VersionOptions>(sunset, async ({ layer, caller, print }, [tool], options) =>
    moved(await layer.ask('tools.sunset', asked(tool, options), caller), print),
  );

  const restore = tools
    .command('restore')
    .description('make a version active again, a removed one too')
    .argument('<tool>', 'id of the tool')
    .argument('<version>', 'exact version')
    .option('--reason <words>', 'why; goes on record');
  kit.asking<VersionOptions>(restore, async ({ layer, caller, print }, [tool, version], { reason }) => {
    const input = { tool_id: String(tool), version: String(version), ...(reason === undefined ? {} : { reason }) };
    return moved(await layer.ask('tools.restore', input, caller), print);
  });

  const remove = versioned(tools, 'remove', 'remove versions whose days of warning are over').option(
    '--force',
    'at once, whatever the state',
  );
  kit.asking<VersionOptions & { force?: boolean }>(remove, async ({ layer, caller, print }, [tool], options) => {
    const force = options.force === true ? { force: true } : {};
    const answer = await layer.ask('tools.remove', { ...asked(tool, options), ...force }, caller);
    if (print.json) print.value(answer);
    else print.line(`Removed ${answer.tool_id} ${answer.removed.join(', ')}`);
    return EXIT.ok;
  });
}

function addDeprecate(tools: Command, kit: CommandKit): void {
  const deprecate = versioned(tools, 'deprecate', 'warn whoever uses a version')
    .option('--in-favor-of <version or tool>', 'what to use instead')
    .option('--guide <words>', 'how to move on');
  kit.asking<DeprecateOptions>(deprecate, async ({ layer, caller, print }, [tool], options) => {
    const { inFavorOf, guide } = options;
    const input = {
      ...asked(tool, options),
      ...(inFavorOf === undefined ? {} : { in_favor_of: inFavorOf }),
      ...(guide === undefined ? {} : { migration_guide: guide }),
    };
    return moved(await layer.ask('tools.deprecate', input, caller), print);
  });
}

function versioned(tools: Command, name: string, description: string): Command {
  return tools
    .command(name)
    .description(description)
    .argument('<tool>', 'id of the tool')
    .option('--version <version>', 'only this version')
    .option('--reason <words>', 'why; goes on record');
}

function asked(tool: unknown, { version, reason }: VersionOptions) {
  return {
    tool_id: String(tool),
    ...(version === undefined ? {} : { version }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function moved(answer: ToolLifecycleResponse, print: Printer): number {
  if (print.json) print.value(answer);
  else print.table(HISTORY_HEAD, answer.versions.map(historyRow));
  return EXIT.ok;
}
