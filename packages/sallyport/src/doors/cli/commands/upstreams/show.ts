import type { UpstreamDetail, UpstreamStatus } from '../../../../../api/schemas/upstream.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';
import { list } from '../../output/templates.ts';

/** `upstreams list|show`. */
export function addShowCommands(operation: AddOperation): void {
  operation('upstreams.list', {
    command: 'list',
    print: list({
      head: ['NAME', 'STATE', 'TRANSPORT', 'TOOLS', 'QUARANTINED', 'SERVER'],
      rows: ({ upstreams }) => upstreams.map(rowOf),
    }),
  });
  operation('upstreams.get', {
    command: 'show',
    help: 'show one upstream: its state, what it offers, what is wrong with it',
    print: printUpstream,
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

function wayTo(transport: UpstreamDetail['definition']['transport']): string {
  if (transport.type === 'embedded') return `the process of the layer, which is the server ${transport.server}`;
  return transport.type === 'stdio' ? [transport.command, ...(transport.args ?? [])].join(' ') : transport.url;
}

function printUpstream({ upstream, definition, malformed, absent_tools }: UpstreamDetail, print: Printer): void {
  const { server, state } = upstream;
  print.line(`${upstream.name}: ${state}`, state === 'ready' ? 'good' : state === 'degraded' ? 'bad' : 'strong');
  const { transport } = definition;
  print.facts([
    ['server', server === undefined ? undefined : `${server.name} ${server.version}`],
    ['reached by', wayTo(transport)],
    ['protocol', upstream.protocol_version],
    ['capabilities', upstream.capabilities.join(', ')],
    ['tools', `${upstream.tool_count}, ${upstream.quarantined_count} in quarantine, ${absent_tools.length} absent`],
    ['new tools', definition.accept_new_tools === false ? 'wait in quarantine' : 'are registered when clean'],
    ['may ask', (definition.may_ask ?? ['elicitation']).join(', ') || 'nothing'],
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
