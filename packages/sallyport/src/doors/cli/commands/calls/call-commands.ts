import type { Command } from 'commander';
import type { ToolStatusResponse, ToolWatchResponse } from '../../../../../api/schemas/invocation.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { seconds } from '../../input/option-values.ts';
import type { Printer } from '../../output/printer.ts';
import { addListCommand } from './list-command.ts';

/** Longest wait of one question while watching, in seconds. */
const WAIT_SECONDS = 15;

/** `calls list|show|watch|cancel|extend`: calls of the tenant, and one of them by its id. */
export function addCallsCommands(program: Command, kit: CommandKit): void {
  const calls = program.command('calls').description('look at calls that run or wait, and end them');
  addListCommand(calls, kit);
  const show = calls.command('show').description('what a call is at, and what became of it').argument('<id>');
  kit.asking(show, async ({ layer, caller, print }, [id]) => {
    const status = await layer.ask('invocations.get', { invocation_id: String(id) }, caller);
    if (print.json) print.value(status);
    else tellStatus(status, print);
    return EXIT.ok;
  });
  const watch = calls
    .command('watch')
    .description('print each state and step of a call until it is over; 1 when it did not succeed')
    .argument('<id>');
  kit.asking(watch, (work, [id]) => follow(work, String(id)));
  addEndCommands(calls, kit);
}

function addEndCommands(calls: Command, kit: CommandKit): void {
  const cancel = calls
    .command('cancel')
    .description('end a call, whichever instance runs it')
    .argument('<id>')
    .option('--reason <text>', 'why; told to its caller');
  kit.asking<{ readonly reason?: string }>(cancel, async ({ layer, caller, print }, [id], { reason }) => {
    const input = { invocation_id: String(id), ...(reason === undefined ? {} : { reason }) };
    const { cancelled, message, ...more } = await layer.ask('invocations.cancel', input, caller);
    if (print.json) print.value({ cancelled, message, ...more });
    else print.line(message);
    return cancelled ? EXIT.ok : EXIT.refused;
  });
  const extend = calls
    .command('extend')
    .description('give an asynchronous call that runs more time')
    .argument('<id>')
    .argument('<duration>', 'on top of what it has, for example 10m', seconds);
  kit.asking(extend, async ({ layer, caller, print }, [id, lasting]) => {
    const input = { invocation_id: String(id), extend_seconds: Number(lasting) };
    const answer = await layer.ask('invocations.extend', input, caller);
    if (print.json) print.value(answer);
    else print.line(answer.message);
    return answer.extended ? EXIT.ok : EXIT.refused;
  });
}

async function follow({ layer, caller, print, parts }: CommandWork, invocation_id: string): Promise<number> {
  const { signal } = parts.io;
  let after: string | undefined;
  for (;;) {
    const input = { invocation_id, wait_seconds: WAIT_SECONDS, ...(after === undefined ? {} : { after }) };
    // Whoever stops watching is answered with what there is: the call goes on.
    const asked = layer.ask('invocations.watch', input, caller).catch((thrown: unknown) => {
      if (signal?.aborted === true) return undefined;
      throw thrown;
    });
    const seen: ToolWatchResponse | undefined = await asked;
    if (seen === undefined) return EXIT.ok;
    if (seen.changed) tellStep(seen, print);
    if (seen.over) {
      if (!print.json) tellEnd(seen.invocation, print);
      return seen.invocation.status === 'success' ? EXIT.ok : EXIT.refused;
    }
    if (signal?.aborted === true) return EXIT.ok;
    after = seen.event_id;
  }
}

function tellStep({ invocation }: ToolWatchResponse, print: Printer): void {
  if (print.json) print.valueLine(invocation);
  else print.line(stepOf(invocation), invocation.status === 'pending_approval' ? 'warning' : undefined);
}

function stepOf({ status, progress_percent, current_phase, approval }: ToolStatusResponse): string {
  return [
    status,
    ...(progress_percent === undefined ? [] : [`${Math.round(progress_percent)} %`]),
    ...(current_phase === undefined ? [] : [current_phase]),
    ...(approval === undefined || status !== 'pending_approval' ? [] : [`approval ${approval.approval_id}`]),
  ].join('  ');
}

function tellEnd({ error, result }: ToolStatusResponse, print: Printer): void {
  if (error !== undefined) print.note(`${error.e_code}: ${error.message}`);
  else if (result !== undefined) print.text(typeof result === 'string' ? result : JSON.stringify(result, null, 2));
}

function tellStatus(status: ToolStatusResponse, print: Printer): void {
  const { invocation_id, tool_id, tool_version, state, settlement, approval } = status;
  print.line(`${invocation_id}: ${stepOf(status)}`, 'strong');
  print.facts([
    ['tool', tool_version === undefined ? tool_id : `${tool_id} ${tool_version}`],
    ['state', state],
    ['until', status.status === 'pending_approval' ? approval?.expires_at : undefined],
    ['outcome', settlement?.outcome],
  ]);
  tellEnd(status, print);
}
