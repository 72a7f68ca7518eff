import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { AuditVerification } from '../../../../api/schemas/audit.ts';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit, CommandWork } from '../command-kit.ts';
import { count } from '../input/option-values.ts';
import type { Printer } from '../output/printer.ts';

/** Time between two looks at the audit while following it, in ms. */
const FOLLOW_MS = 500;
const TAIL_LINES = 20;

interface TailOptions {
  readonly follow?: boolean;
  readonly lines?: number;
  readonly tool?: string;
  readonly invocation?: string;
}

/** `audit tail|verify`. */
export function addAuditCommands(program: Command, kit: CommandKit): void {
  const audit = program.command('audit').description('read and check the audit');
  const tail = audit
    .command('tail')
    .description('print the last events')
    .option('-f, --follow', 'go on with new ones until stopped')
    .option('-n, --lines <count>', `how many; ${TAIL_LINES} when absent`, count)
    .option('--tool <id>', 'only events of this tool')
    .option('--invocation <id>', 'only events of this invocation');
  kit.asking<TailOptions>(tail, async (work, _args, options) => {
    await follow(work, options);
    return EXIT.ok;
  });

  const verify = audit.command('verify').description('check that no event was changed, added or left out');
  kit.asking(verify, async ({ layer, caller, print }) => {
    const found = await layer.ask('audit.verify', {}, caller);
    if (print.json) print.value(found);
    else tellVerification(found, print);
    return found.whole ? EXIT.ok : EXIT.refused;
  });
}

async function follow({ layer, caller, print, parts }: CommandWork, options: TailOptions): Promise<void> {
  const { tool, invocation, lines = TAIL_LINES } = options;
  const wanted = {
    ...(tool === undefined ? {} : { tool_id: tool }),
    ...(invocation === undefined ? {} : { invocation_id: invocation }),
  };
  const { signal } = parts.io;
  // A query that is under way when the run ends is let go, not cancelled into an error.
  const { signal: _signal, ...asking } = caller;
  let page = await layer.ask('audit.query', { ...wanted, newest: true, limit: lines }, asking);
  for (;;) {
    for (const event of page.events) tellEvent(event, print);
    if (options.follow !== true || signal?.aborted === true) return;
    if (page.events.length === 0)
      await wait(FOLLOW_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    page = await layer.ask('audit.query', { ...wanted, after: page.next, limit: 1_000 }, asking);
  }
}

/** One line an event; with --json the event itself. */
function tellEvent(event: CloudEvent, print: Printer): void {
  if (print.json) {
    print.line(JSON.stringify(event));
    return;
  }
  const { tool_id, state } = event.data;
  const about = [tool_id, state, event.subject].filter((part) => typeof part === 'string').join(' ');
  print.line(`${event.time}  ${event.type.replace('ai.agent.', '')}  ${about}`);
}

function tellVerification(found: AuditVerification, print: Printer): void {
  const rows = found.chains.map(({ chain_id, events, checkpoints, whole, first_broken }) => [
    whole ? 'whole' : 'BROKEN',
    chain_id,
    String(events),
    String(checkpoints),
    first_broken === undefined ? '' : `event ${first_broken.seq}: ${first_broken.reason}`,
  ]);
  if (rows.length > 0) print.table(['STATE', 'CHAIN', 'EVENTS', 'CHECKPOINTS', 'FIRST FAULT'], rows);
  if (found.whole) print.line(`${found.events} events, all whole`, 'good');
  else print.line(`${found.events} events, not whole`, 'bad');
}
