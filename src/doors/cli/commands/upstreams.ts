import type { Command } from 'commander';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit } from '../command-kit.ts';
import { readTextFile } from '../input/read-source.ts';
import { addAddCommand, tellAdded } from './upstreams/add.ts';
import { addQuarantineCommands } from './upstreams/quarantine.ts';
import { addShowCommands } from './upstreams/show.ts';

/** `upstreams list|show|add|import|remove|quarantine|accept|reject`. */
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
  addQuarantineCommands(upstreams, kit);
}

function addImportCommand(upstreams: Command, kit: CommandKit): void {
  const importFile = upstreams
    .command('import')
    .description("add the servers of a desktop client's mcpServers JSON")
    .argument('<file>', 'the JSON file, as it stands');
  kit.adding(importFile, async ({ layer, caller, print, parts }, [file]) => {
    const source = String(file);
    const configuration = await readTextFile(source, parts.io);
    const answer = await layer.ask('upstreams.import', { configuration, source }, caller);
    if (print.json) print.value(answer);
    else for (const added of answer.imported) tellAdded(added, print);
    for (const note of answer.notes) print.note(note);
    for (const { name, reason } of answer.refused) print.note(`left out ${name}: ${reason}`);
    return answer.refused.length === 0 ? EXIT.ok : EXIT.refused;
  });
}
