import type { Command } from 'commander';
import type { CommandKit } from '../command-kit.ts';
import { operationCommands } from '../operation/operation-command.ts';
import { addAddCommand } from './upstreams/add.ts';
import { addImportCommand } from './upstreams/import.ts';
import { addLoginCommands } from './upstreams/login.ts';
import { addQuarantineCommands } from './upstreams/quarantine.ts';
import { addExportCommand, addLogsCommand } from './upstreams/run.ts';
import { addShowCommands } from './upstreams/show.ts';

/** `upstreams list|show|add|import|remove|disable|enable|restart|logs|login|logout|export|quarantine|accept|reject`. */
export function addUpstreamsCommands(program: Command, kit: CommandKit): void {
  const upstreams = program
    .command('upstreams')
    .description('see and change the MCP servers whose tools are registered');
  const operation = operationCommands(upstreams, kit);
  addShowCommands(operation);
  addAddCommand(upstreams, kit);
  addImportCommand(upstreams, kit);
  operation('upstreams.remove', {
    command: 'remove',
    print: ({ name, removed_tools }, print) => print.line(`Removed ${name} and ${removed_tools.length} tools`),
  });
  for (const command of ['disable', 'enable', 'restart'] as const)
    operation(`upstreams.${command}`, {
      command,
      print: ({ upstream }, print) => print.line(`${upstream.name}: ${upstream.state}`),
    });
  addLogsCommand(upstreams, kit);
  addLoginCommands(upstreams, kit);
  addExportCommand(upstreams, kit);
  addQuarantineCommands(operation);
}
