import type { Command } from 'commander';
import type { Circuit, CircuitListRequest, CircuitSetRequest } from '../../../../../api/schemas/calls/circuit.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { count } from '../../input/option-values.ts';
import type { Printer } from '../../output/printer.ts';

/** `circuits list|show|open|close|disable`. */
export function addCircuitsCommands(program: Command, kit: CommandKit): void {
  const circuits = program.command('circuits').description('see and set what keeps calls away from services that fail');
  addListCommand(circuits, kit);
  const show = circuits.command('show').description('one circuit, with its configuration').argument('<name>');
  kit.asking(show, async ({ layer, caller, print }, [name]) => {
    tell(await layer.ask('circuits.get', { name: String(name) }, caller), print);
    return EXIT.ok;
  });
  addSetCommand(circuits, kit, 'open', 'forced_open', 'let no call through until it is closed again');
  addSetCommand(circuits, kit, 'close', 'closed', 'let calls through and begin to count anew');
  addSetCommand(circuits, kit, 'disable', 'disabled', 'let every call through, whatever becomes of it');
}

interface ListOptions {
  readonly state?: string;
  readonly after?: string;
  readonly limit?: number;
}

function addListCommand(circuits: Command, kit: CommandKit): void {
  const list = circuits
    .command('list')
    .description('the circuits by name, of the instance that is asked')
    .option('--state <state>', 'only closed, open, half_open, forced_open or disabled ones')
    .option('--after <name>', 'goes on behind an earlier page')
    .option('--limit <n>', 'how many, 50 when absent', count);
  kit.asking<ListOptions>(list, async ({ layer, caller, print }, _args, { state, after, limit }) => {
    const input = {
      ...(state === undefined ? {} : { state: state as NonNullable<CircuitListRequest['state']> }),
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit }),
    };
    const answer = await layer.ask('circuits.list', input, caller);
    if (print.json) print.value(answer);
    else if (answer.circuits.length === 0) print.note('There is no circuit; each begins with its first call.');
    else {
      print.table(['CIRCUIT', 'STATE', 'CALLS', 'FAILED', 'SLOW', 'SINCE'], answer.circuits.map(rowOf));
      if (answer.next !== undefined) print.note(`More: --after ${answer.next}`);
    }
    return EXIT.ok;
  });
}

const rowOf = ({ name, state, call_count, failure_rate, slow_call_rate, since }: Circuit): string[] => [
  name,
  state,
  String(call_count),
  `${failure_rate}%`,
  `${slow_call_rate}%`,
  since,
];

function addSetCommand(
  circuits: Command,
  kit: CommandKit,
  verb: string,
  state: CircuitSetRequest['state'],
  what: string,
): void {
  const command = circuits
    .command(verb)
    .description(what)
    .argument('<name>')
    .option('--reason <text>', 'why, for the record');
  kit.asking<{ readonly reason?: string }>(command, async ({ layer, caller, print }, [name], { reason }) => {
    const input = { name: String(name), state, ...(reason === undefined ? {} : { reason }) };
    tell(await layer.ask('circuits.set', input, caller), print);
    return EXIT.ok;
  });
}

function tell(circuit: Circuit, print: Printer): void {
  if (print.json) print.value(circuit);
  else for (const [name, value] of Object.entries(circuit)) print.line(`${name}: ${shown(value)}`);
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
