import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Anchor, AnchorVerification, AuditVerification } from '../../../../api/schemas/audit.ts';
import type { CloudEvent } from '../../../../api/schemas/cloud-event.ts';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit, CommandWork } from '../command-kit.ts';
import { count } from '../input/option-values.ts';
import { readAnchors } from '../input/read-anchors.ts';
import type { Printer } from '../output/printer.ts';

/** Time between two polls of the audit while following it, in ms. */
const FOLLOW_MS = 500;
const TAIL_LINES = 20;

interface TailOptions {
  readonly follow?: boolean;
  readonly lines?: number;
  readonly tool?: string;
  readonly invocation?: string;
}

/** Anchors compared in one request. */
const ANCHORS_AT_ONCE = 1_000;

/** `audit tail|verify|anchor`. */
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

  const verify = audit
    .command('verify')
    .description('check that no event was changed, added or left out, and that every call is recorded');
  verify.option(
    '--anchors <file>',
    'compare the chains with the heads that were kept in this file; - for standard input',
  );
  kit.asking<{ readonly anchors?: string }>(verify, async (work, _args, { anchors: file }) => {
    const { layer, caller, print, parts } = work;
    const kept = file === undefined ? undefined : await readAnchors(file, parts.io);
    const found = await layer.ask('audit.verify', {}, caller);
    const anchors = kept === undefined ? undefined : await compare(work, kept);
    if (print.json) print.value(anchors === undefined ? found : { ...found, anchors });
    else {
      if (anchors !== undefined) printAnchors(anchors, print);
      printVerification(found, print);
    }
    return found.whole && anchors?.whole !== false ? EXIT.ok : EXIT.refused;
  });

  const anchor = audit
    .command('anchor')
    .description('sign the heads of the chains, and print them to be kept elsewhere');
  kit.asking(anchor, async ({ layer, caller, print }) => {
    const { anchors } = await layer.ask('audit.anchor', {}, caller);
    for (const each of anchors) print.valueLine(each);
    return EXIT.ok;
  });
}

async function follow({ layer, caller, print, parts }: CommandWork, options: TailOptions): Promise<void> {
  const { tool, invocation, lines = TAIL_LINES } = options;
  const wanted = {
    ...(tool === undefined ? {} : { tool_id: tool }),
    ...(invocation === undefined ? {} : { invocation_id: invocation }),
  };
  const { signal } = parts.io;
  // A query under way when the run ends is abandoned; cancelling it would report an error.
  const { signal: _signal, ...asking } = caller;
  let page = await layer.ask('audit.query', { ...wanted, newest: true, limit: lines }, asking);
  for (;;) {
    for (const event of page.events) printEvent(event, print);
    if (options.follow !== true || signal?.aborted === true) return;
    if (page.events.length === 0)
      await wait(FOLLOW_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    page = await layer.ask('audit.query', { ...wanted, after: page.next, limit: 1_000 }, asking);
  }
}

async function compare({ layer, caller }: CommandWork, kept: readonly Anchor[]): Promise<AnchorVerification> {
  const faults: AnchorVerification['faults'] = [];
  for (let at = 0; at < kept.length; at += ANCHORS_AT_ONCE) {
    const anchors = kept.slice(at, at + ANCHORS_AT_ONCE);
    faults.push(...(await layer.ask('audit.verify-anchors', { anchors }, caller)).faults);
  }
  return { whole: faults.length === 0, checked: kept.length, faults };
}

function printAnchors({ whole, checked, faults }: AnchorVerification, print: Printer): void {
  if (!whole) {
    const rows = faults.map(({ chain_id, seq, reason }) => [chain_id, String(seq), reason]);
    print.table(['CHAIN', 'EVENT', 'FAULT OF THE ANCHOR'], rows);
  }
  const held = checked - faults.length;
  print.line(`${held} of ${checked} anchors hold`, whole ? 'good' : 'bad');
}

/** Prints one line per event; with --json the event itself. */
function printEvent(event: CloudEvent, print: Printer): void {
  if (print.json) {
    print.valueLine(event);
    return;
  }
  const { tool_id, state } = event.data;
  const about = [tool_id, state, event.subject].filter((part) => typeof part === 'string').join(' ');
  print.line(`${event.time}  ${event.type.replace('ai.agent.', '')}  ${about}`);
}

function printVerification(found: AuditVerification, print: Printer): void {
  const rows = found.chains.map(({ chain_id, events, checkpoints, whole, first_broken }) => [
    whole ? 'whole' : 'BROKEN',
    chain_id,
    String(events),
    String(checkpoints),
    first_broken === undefined ? '' : `event ${first_broken.seq}: ${first_broken.reason}`,
  ]);
  if (rows.length > 0) print.table(['STATE', 'CHAIN', 'EVENTS', 'CHECKPOINTS', 'FIRST FAULT'], rows);
  const { checked, open, gaps, first_gaps } = found.calls;
  if (gaps > 0) {
    const named = first_gaps.map(({ tenant_id, invocation_id, reason }) => [tenant_id, invocation_id, reason]);
    print.table(['TENANT', 'INVOCATION', 'GAP'], named);
    print.line(`Calls whose rows and events differ: ${gaps}; rows compared: ${checked}`, 'bad');
  } else {
    print.line(
      `${checked} calls, each recorded from its beginning${open > 0 ? `; ${open} not over yet` : ' to its end'}`,
    );
  }
  printHeads(found.heads, print);
  for (const warning of found.warnings) print.line(warning, 'warning');
  if (found.whole) print.line(`${found.events} events, all whole`, 'good');
  else print.line(`${found.events} events, not whole`, 'bad');
}

/** Prints the result of comparing the chain heads that are kept outside the tables. */
function printHeads({ checked, faults }: AuditVerification['heads'], print: Printer): void {
  const rows = faults.map(({ chain_id, seq, reason }) => [chain_id, String(seq), reason]);
  if (rows.length > 0) print.table(['CHAIN', 'EVENT', 'FAULT OF A KEPT HEAD'], rows);
  else print.line(`Heads kept outside the tables: ${checked}, and the chains have them`);
}
