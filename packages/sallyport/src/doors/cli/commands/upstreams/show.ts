import type { Command } from 'commander';
import type { UpstreamDetail, UpstreamStatus } from '../../../../../api/schemas/upstream.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import type { Printer } from '../../output/printer.ts';

/** `upstreams list|show`. */
export function addShowCommands(upstreams: Command, kit: CommandKit): void {
  const list = upstreams.command('list').description('list the upstreams');
  kit.asking(list, async ({ layer, caller, print }) => {
    const answer = await layer.ask('upstreams.list', {}, caller);
    if (print.json) print.value(answer);
    else print.table(['NAME', 'STATE', 'TRANSPORT', 'TOOLS', 'QUARANTINED', 'SERVER'], answer.upstreams.map(rowOf));
    return EXIT.ok;
  });
  const show = upstreams
    .command('show')
    .description('show one upstream: its state, what it offers, what is wrong with it')
    .argument('<name>');
  kit.asking(show, async ({ layer, caller, print }, [name]) => {
    const answer = await layer.ask('upstreams.get', { name: String(name) }, caller);
    if (print.json) print.value(answer);
    else tell(answer, print);
    return EXIT.ok;
  });
}

function rowOf(upstream: UpstreamStatus): string[] {
  return [
    upstream.name,
    upstream.state,
    upstream.transport,
    String(upstream.tool_count),
    String(upstream.quarantined_count),
    upstream.last_error ?? upstream.server?.name ?? '',
  ];
}

function tell({ upstream, definition, malformed, absent_tools }: UpstreamDetail, print: Printer): void {
  const { server, state } = upstream;
  print.line(`${upstream.name}: ${state}`, state === 'ready' ? 'good' : state === 'degraded' ? 'bad' : 'strong');
  const { transport } = definition;
  print.facts([
    ['server', server === undefined ? undefined : `${server.name} ${server.version}`],
    [
      'reached by',
      transport.type !== 'stdio' ? transport.url : [transport.command, ...(transport.args ?? [])].join(' '),
    ],
    ['protocol', upstream.protocol_version],
    ['capabilities', upstream.capabilities.join(', ')],
    ['tools', `${upstream.tool_count}, ${upstream.quarantined_count} in quarantine, ${absent_tools.length} absent`],
    ['new tools', definition.accept_new_tools === false ? 'wait in quarantine' : 'are registered when clean'],
    ['restarts', String(upstream.restart_count)],
    ['last error', upstream.last_error],
    ['since', upstream.changed_at],
  ]);
  if (malformed.length > 0) {
    print.line('');
    print.table(
      ['NOT TAKEN', 'REASON'],
      malformed.map(({ place, reason }) => [place, reason]),
    );
  }
  if (absent_tools.length > 0) {
    print.line('');
    print.table(
      ['NO LONGER LISTED'],
      absent_tools.map((toolId) => [toolId]),
    );
  }
}
