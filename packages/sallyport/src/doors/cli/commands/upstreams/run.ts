import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';

/** Pause between two polls of a server's log, in ms. */
const FOLLOW_PAUSE_MS = 500;

/** `upstreams logs`. */
export function addLogsCommand(upstreams: Command, kit: CommandKit): void {
  const logs = upstreams
    .command('logs')
    .description('show what an upstream wrote on its standard error')
    .argument('<name>')
    .option('-f, --follow', 'go on until Ctrl-C');
  kit.asking<{ follow?: boolean }>(logs, async ({ layer, caller, print, parts }, [name], { follow }) => {
    const { signal } = parts.io;
    let after = 0;
    do {
      const answer = await layer.ask('upstreams.logs', { name: String(name), after }, caller);
      after = answer.next;
      if (print.json) {
        if (follow !== true) print.value(answer);
        else for (const line of answer.lines) print.valueLine(line);
      } else for (const line of answer.lines) print.line(line);
      if (follow === true) await pause(FOLLOW_PAUSE_MS, undefined, { signal }).catch(() => {});
    } while (follow === true && !signal.aborted);
    return EXIT.ok;
  });
}

/** `upstreams export`. */
export function addExportCommand(upstreams: Command, kit: CommandKit): void {
  const exportAll = upstreams
    .command('export')
    .description("print the upstreams as a desktop client's mcpServers JSON, without values of secrets")
    .argument('[name...]', 'all when absent');
  kit.asking(exportAll, async ({ layer, caller, print }, [names]) => {
    const wanted = (names ?? []) as string[];
    const exported = await layer.ask('upstreams.export', wanted.length === 0 ? {} : { names: wanted }, caller);
    print.value(exported);
    if (JSON.stringify(exported).includes('{{'))
      print.note(
        'It is without values of secrets: each {{NAME}} stands for one, to be filled in where the file is used.',
      );
    return EXIT.ok;
  });
}
