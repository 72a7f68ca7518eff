import type { Command } from 'commander';
import type { Circuit, CircuitSetRequest } from '../../../../../api/schemas/calls/circuit.ts';
import type { CommandKit } from '../../command-kit.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { list, members } from '../../output/templates.ts';

/** The circuit state that each verb sets, and the verb's help text. */
const VERBS: Readonly<Record<string, readonly [CircuitSetRequest['state'], string]>> = {
  open: ['forced_open', 'let no call through until it is closed again'],
  close: ['closed', 'let calls through and begin to count anew'],
  disable: ['disabled', 'let every call through, whatever becomes of it'],
};

/** `circuits list|show|open|close|disable`. */
export function addCircuitsCommands(program: Command, kit: CommandKit): void {
  const group = program.command('circuits').description('see and set what keeps calls away from services that fail');
  const operation = operationCommands(group, kit);
  operation('circuits.list', {
    command: 'list',
    help: 'the circuits by name, of the instance that is asked',
    // The layer validates the word.
    members: { state: { help: 'only closed, open, half_open, forced_open or disabled ones', parse: String } },
    print: list({
      head: ['CIRCUIT', 'STATE', 'CALLS', 'FAILED', 'SLOW', 'SINCE'],
      rows: ({ circuits }) => circuits.map(rowOf),
      empty: 'There is no circuit; each begins with its first call.',
      more: '--after',
    }),
  });
  operation('circuits.get', { command: 'show', help: 'one circuit, with its configuration', print: members });
  for (const [command, [state, help]] of Object.entries(VERBS))
    operation('circuits.set', {
      command,
      help,
      members: { state: false },
      input: (given) => ({ ...given, state }),
      print: members,
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
