import type { Command } from 'commander';
import type { OverflowPage } from '../../../../../api/schemas/calls/overflow.ts';
import type { ToolStatusResponse, ToolWatchResponse } from '../../../../../api/schemas/invocation.ts';
import type { OperationOutput } from '../../../../operations/catalogue.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';
import { addListCommand } from './list-command.ts';

/** Longest wait of one request while watching, in seconds. */
const WAIT_SECONDS = 15;

/** `calls list|show|watch|cancel|extend|overflow|filters`: the calls of the tenant, or one call by its id. */
export function addCallsCommands(program: Command, kit: CommandKit): void {
  const calls = program.command('calls').description('look at calls that run or wait, and end them');
  const operation = operationCommands(calls, kit);
  addListCommand(operation);
  operation('invocations.get', {
    command: 'show',
    help: 'what a call is at, and what became of it',
    print: printStatus,
  });
  const watch = calls
    .command('watch')
    .description('print each state and step of a call until it is over; 1 when it did not succeed')
    .argument('<invocation-id>');
  kit.asking(watch, (work, [id]) => follow(work, String(id)));
  operation('invocations.cancel', {
    command: 'cancel',
    help: 'end a call, whichever instance runs it',
    succeeded: ({ cancelled }) => cancelled,
    print: printMessage,
  });
  operation('invocations.extend', {
    command: 'extend',
    help: 'give an asynchronous call that runs more time',
    args: ['invocation_id', 'extend_seconds'],
    succeeded: ({ extended }) => extended,
    print: printMessage,
  });
  operation('invocations.overflow', {
    command: 'overflow',
    help: 'the whole text of a result that was cut or filtered, page by page',
    print: printPage,
  });
  operation('output-filters.list', {
    command: 'filters',
    help: 'the output filters, and what they made of results since the start',
    print: printFilters,
  });
}

/** The page as it is, and below it, apart from it, where the next one begins. */
function printPage({ text, next_offset, characters, warnings = [] }: OverflowPage, print: Printer): void {
  print.text(text);
  for (const { message } of warnings) print.note(message);
  if (next_offset !== undefined) print.note(`${characters} characters; read on with --offset ${next_offset}`);
}

function printFilters({ filters }: OperationOutput<'output-filters.list'>, print: Printer): void {
  print.table(
    ['filter', 'full', 'partial', 'fallback', 'characters', 'left'],
    filters.map(({ filter, full, partial, fallback, characters_before, characters_after }) =>
      [filter, full, partial, fallback, characters_before, characters_after].map(String),
    ),
  );
}

const printMessage = ({ message }: { readonly message: string }, print: Printer): void => print.line(message);

async function follow({ layer, caller, print, parts }: CommandWork, invocation_id: string): Promise<number> {
  const { signal } = parts.io;
  let after: string | undefined;
  for (;;) {
    const input = { invocation_id, wait_seconds: WAIT_SECONDS, ...(after === undefined ? {} : { after }) };
    // When watching is interrupted, the latest state is printed; the call itself keeps running.
    const asked = layer.ask('invocations.watch', input, caller).catch((thrown: unknown) => {
      if (signal?.aborted === true) return undefined;
      throw thrown;
    });
    const seen: ToolWatchResponse | undefined = await asked;
    if (seen === undefined) return EXIT.ok;
    if (seen.changed) printStep(seen, print);
    if (seen.over) {
      if (!print.json) printEnd(seen.invocation, print);
      return seen.invocation.status === 'success' ? EXIT.ok : EXIT.refused;
    }
    if (signal?.aborted === true) return EXIT.ok;
    after = seen.event_id;
  }
}

function printStep({ invocation }: ToolWatchResponse, print: Printer): void {
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

function printEnd({ error, result }: ToolStatusResponse, print: Printer): void {
  if (error !== undefined) print.note(`${error.e_code}: ${error.message}`);
  else if (result !== undefined) print.text(typeof result === 'string' ? result : JSON.stringify(result, null, 2));
}

function printStatus(status: ToolStatusResponse, print: Printer): void {
  const { invocation_id, tool_id, tool_version, state, settlement, approval } = status;
  print.line(`${invocation_id}: ${stepOf(status)}`, 'strong');
  print.facts([
    ['tool', tool_version === undefined ? tool_id : `${tool_id} ${tool_version}`],
    ['state', state],
    ['until', status.status === 'pending_approval' ? approval?.expires_at : undefined],
    ['outcome', settlement?.outcome],
  ]);
  printEnd(status, print);
}
