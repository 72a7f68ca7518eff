import type { Command } from 'commander';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit } from '../command-kit.ts';
import { addAddCommand } from './upstreams/add.ts';
import { addImportCommand } from './upstreams/import.ts';
import { addQuarantineCommands } from './upstreams/quarantine.ts';
import { addRunCommands } from './upstreams/run.ts';
import { addShowCommands } from './upstreams/show.ts';

/** `upstreams list|show|add|import|remove|disable|enable|restart|logs|export|quarantine|accept|reject`. */
export function addUpstreamsCommands(program: Command, kit: CommandKit): void {
  const upstreams = program
    .command('upstreams')
    .description('see and change the MCP servers whose tools are registered');
  addShowCommands(upstreams, kit);
  addAddCommand(upstreams, kit);
  addImportCommand(upstreams, kit);
  const remove = upstreams
    .command('remove')
    .description('disconnect an upstream and remove its tools')
    .argument('<name>');
  kit.asking(remove, async ({ layer, caller, print }, [name]) => {
    const answer = await layer.ask('upstreams.remove', { name: String(name) }, caller);
    if (print.json) print.value(answer);
    else print.line(`Removed ${answer.name} and ${answer.removed_tools.length} tools`);
    return EXIT.ok;
  });
  addRunCommands(upstreams, kit);
  addQuarantineCommands(upstreams, kit);
}
