import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { UpstreamAddResponse, UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit } from '../command-kit.ts';
import { collect, collectPairs } from '../input/option-values.ts';
import { readTextFile } from '../input/read-source.ts';
import { usageError } from '../input/usage-error.ts';
import type { Printer } from '../output/printer.ts';
import { REGISTRATION_HEAD, registrationRow } from '../output/registrations.ts';

interface AddOptions {
  readonly mount?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly network?: readonly string[];
  readonly url?: string;
  readonly header?: Readonly<Record<string, string>>;
}

/** `upstreams list|add|import|remove`. */
export function addUpstreamsCommands(program: Command, kit: CommandKit): void {
  const upstreams = program
    .command('upstreams')
    .description('see and change the MCP servers whose tools are registered');
  const list = upstreams.command('list').description('list the upstreams');
  kit.asking(list, async ({ layer, caller, print }) => {
    const answer = await layer.ask('upstreams.list', {}, caller);
    if (print.json) print.value(answer);
    else {
      const rows = answer.upstreams.map((upstream) => [
        upstream.name,
        upstream.state,
        upstream.transport,
        String(upstream.tool_count),
        upstream.last_error ?? upstream.server?.name ?? '',
      ]);
      print.table(['NAME', 'STATE', 'TRANSPORT', 'TOOLS', 'SERVER'], rows);
    }
    return EXIT.ok;
  });
  addAdd(upstreams, kit);

  const importFile = upstreams
    .command('import')
    .description("add the servers of a desktop client's mcpServers JSON")
    .argument('<file>', 'the JSON file, as it stands');
  kit.asking(importFile, async ({ layer, caller, print, parts }, [file]) => {
    const source = String(file);
    const configuration = await readTextFile(source, parts.io);
    const answer = await layer.ask('upstreams.import', { configuration, source }, caller);
    if (print.json) print.value(answer);
    else for (const added of answer.imported) tellAdded(added, print);
    for (const note of answer.notes) print.note(note);
    for (const { name, reason } of answer.refused) print.note(`left out ${name}: ${reason}`);
    return answer.refused.length === 0 ? EXIT.ok : EXIT.refused;
  });

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
}

function addAdd(upstreams: Command, kit: CommandKit): void {
  const add = upstreams
    .command('add')
    .description('connect an MCP server and register its tools')
    .argument('<name>', 'prefix of the tool ids')
    .argument('[command...]', 'after --: the command that starts the server, in a sandbox')
    .option('--mount <path[:rw]>', 'folder that the server sees, read-only unless :rw', collect)
    .option('--env <name=value>', 'variable of the server', collectPairs)
    .option('--cwd <folder>', 'where the server starts')
    .option('--network <host:port>', 'address that the server may reach', collect)
    .option('--url <url>', 'address of a server that runs already, instead of a command')
    .option('--header <name=value>', 'header sent to it; {{NAME}} stands for a secret', collectPairs);
  kit.asking<AddOptions>(add, async ({ layer, caller, print, parts }, [name, command], options) => {
    const transport = transportOf((command ?? []) as string[], options, parts.io.cwd);
    const answer = await layer.ask('upstreams.add', { upstream: { name: String(name), transport } }, caller);
    if (print.json) print.value(answer);
    else tellAdded(answer, print);
    return EXIT.ok;
  });
}

function transportOf(words: readonly string[], options: AddOptions, cwd: string): UpstreamDefinition['transport'] {
  const [command, ...args] = words;
  const { url, header, env, mount, network } = options;
  if (url !== undefined) {
    if (command !== undefined) throw usageError('Give either --url or a command after --, not both.');
    return { type: 'http', url, ...(header === undefined ? {} : { headers: { ...header } }) };
  }
  if (command === undefined)
    throw usageError('Give the command after --, or --url. Example: upstreams add files -- npx my-server');
  return {
    type: 'stdio',
    command,
    args,
    ...(options.cwd === undefined ? {} : { cwd: resolve(cwd, options.cwd) }),
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(mount === undefined ? {} : { mounts: mount.map((text) => mountOf(text, cwd)) }),
    ...(network === undefined ? {} : { network: network.map(addressOf) }),
  };
}

function mountOf(text: string, cwd: string): { path: string; mode: 'ro' | 'rw' } {
  const [, path = text, mode = 'ro'] = /^(.*):(ro|rw)$/.exec(text) ?? [];
  return { path: resolve(cwd, path), mode: mode === 'rw' ? 'rw' : 'ro' };
}

function addressOf(text: string): { host: string; port: number } {
  const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(text) ?? [];
  if (host === undefined)
    throw usageError(`--network ${text}: write it as HOST:PORT, for example api.example.com:443.`);
  return { host, port: Number(port) };
}

function tellAdded({ upstream, registrations }: UpstreamAddResponse, print: Printer): void {
  print.line(`${upstream.name}: ${upstream.state}, ${upstream.tool_count} tools`);
  if (registrations.length > 0) print.table(REGISTRATION_HEAD, registrations.map(registrationRow));
}
