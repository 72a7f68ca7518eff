import type { Command } from 'commander';
import type { UnknownOutcome } from '../../../../api/schemas/calls/outcome.ts';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit } from '../command-kit.ts';
import { count } from '../input/option-values.ts';
import { usageError } from '../input/usage-error.ts';
import type { Printer } from '../output/printer.ts';

/** What a person says became of a call. */
const WORDS = { happened: 'happened', 'did-not-happen': 'did_not_happen' } as const;

/** `outcomes list|show|settle|reconcile`. */
export function addOutcomesCommands(program: Command, kit: CommandKit): void {
  const outcomes = program.command('outcomes').description('calls of which nobody knows what they did');
  addListCommand(outcomes, kit);
  addShowCommand(outcomes, kit);
  addSettleCommand(outcomes, kit);
  addReconcileCommand(outcomes, kit);
}

function addListCommand(outcomes: Command, kit: CommandKit): void {
  const list = outcomes
    .command('list')
    .description('those that nobody has settled yet, the oldest first')
    .option('--settled', 'those that are settled')
    .option('--after <invocation-id>', 'go on behind this one')
    .option('--limit <n>', 'how many at most', count);
  kit.asking<{ readonly settled?: boolean; readonly after?: string; readonly limit?: number }>(
    list,
    async ({ layer, caller, print }, _args, { settled, after, limit }) => {
      const input = {
        ...(settled === undefined ? {} : { settled }),
        ...(after === undefined ? {} : { after }),
        ...(limit === undefined ? {} : { limit }),
      };
      const answer = await layer.ask('outcomes.list', input, caller);
      if (print.json) print.value(answer);
      else if (answer.outcomes.length === 0) print.note('There is no such call.');
      else print.table(['CALL', 'TOOL', 'AGENT', 'ACCEPTED', 'OUTCOME'], answer.outcomes.map(rowOf));
      return EXIT.ok;
    },
  );
}

const rowOf = ({ invocation_id, tool_id, agent_did, accepted_at, settlement }: UnknownOutcome): string[] => [
  invocation_id,
  tool_id,
  agent_did,
  accepted_at,
  settlement?.outcome ?? 'not known',
];

function addShowCommand(outcomes: Command, kit: CommandKit): void {
  const show = outcomes.command('show').description('one call, with why its outcome is not known').argument('<id>');
  kit.asking(show, async ({ layer, caller, print }, [id]) => {
    shown(print, await layer.ask('outcomes.get', { invocation_id: String(id) }, caller));
    return EXIT.ok;
  });
}

function addSettleCommand(outcomes: Command, kit: CommandKit): void {
  const settle = outcomes
    .command('settle')
    .description('say what became of a call, once and for all')
    .argument('<id>')
    .argument('<happened|did-not-happen>')
    .requiredOption('--note <text>', 'how it was found out')
    .option('--result <json>', 'what the tool would have answered');
  kit.asking<{ readonly note: string; readonly result?: string }>(
    settle,
    async ({ layer, caller, print }, [id, word], { note, result }) => {
      const outcome = Object.hasOwn(WORDS, String(word)) ? WORDS[word as keyof typeof WORDS] : undefined;
      if (outcome === undefined) throw usageError('Say happened or did-not-happen after the id of the call.');
      const found = result === undefined ? {} : { result: jsonOf(result) };
      const input = { invocation_id: String(id), outcome, note, ...found };
      shown(print, await layer.ask('outcomes.settle', input, caller));
      return EXIT.ok;
    },
  );
}

function addReconcileCommand(outcomes: Command, kit: CommandKit): void {
  const reconcile = outcomes
    .command('reconcile')
    .description('have a tool that changes nothing find out what became of a call')
    .argument('<id>')
    .argument('<tool-id>')
    .option('--parameters <json>', 'its arguments; by default the id of the call as invocation_id')
    .option('--token <token>', 'capability token for the tool');
  kit.asking<{ readonly parameters?: string; readonly token?: string }>(
    reconcile,
    async ({ layer, caller, print }, [id, toolId], { parameters, token }) => {
      const given = parameters === undefined ? undefined : jsonOf(parameters);
      if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
        throw usageError('The parameters are a JSON object.');
      }
      const input = {
        invocation_id: String(id),
        tool_id: String(toolId),
        ...(given === undefined ? {} : { parameters: given as Record<string, unknown> }),
        ...(token === undefined ? {} : { capability_token: token }),
      };
      shown(print, await layer.ask('outcomes.reconcile', input, caller));
      return EXIT.ok;
    },
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw usageError('This is no JSON.');
  }
}

function shown(print: Printer, outcome: UnknownOutcome): void {
  if (print.json) {
    print.value(outcome);
    return;
  }
  const { invocation_id, tool_id, tool_version, agent_did, accepted_at, error, settlement } = outcome;
  const rows = [
    ['call', invocation_id],
    ['tool', tool_version === undefined ? tool_id : `${tool_id} ${tool_version}`],
    ['agent', agent_did],
    ['accepted', accepted_at],
    ['error', `${error.e_code} ${error.message}`],
    ['outcome', settlement?.outcome ?? 'not known'],
  ];
  if (settlement !== undefined) {
    rows.push(['settled', `${settlement.settled_at} by ${settlement.settled_by ?? 'the layer'} (${settlement.how})`]);
    if (settlement.note !== undefined) rows.push(['note', settlement.note]);
  }
  print.table(['', ''], rows);
}
