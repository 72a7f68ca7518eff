import type { Command } from 'commander';
import type { CompensationOutcome, SideEffectRecord } from '../../../../api/schemas/calls/side-effect.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Caller } from '../../../domain/principal/principal.ts';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit, CommandWork } from '../command-kit.ts';
import { readArguments } from '../input/read-json.ts';
import { usageError } from '../input/usage-error.ts';
import { operationCommands } from '../operation/operation-command.ts';
import type { Printer } from '../output/printer.ts';
import { list, members } from '../output/templates.ts';

/** Lifetime of a token minted for compensations, in seconds. */
const TOKEN_SECONDS = 660;

/** `side-effects list|show|compensate`. */
export function addSideEffectsCommands(program: Command, kit: CommandKit): void {
  const effects = program.command('side-effects').description('see what calls left behind, and take it back');
  const operation = operationCommands(effects, kit);
  operation('side-effects.list', {
    command: 'list',
    help: 'what calls left behind, the last first',
    members: { turn_group_id: '--turn <id>', needs_compensation: '--open' },
    print: list({
      head: ['CALL', 'TOOL', 'POLICY', 'STATUS', 'TURN', 'AT'],
      rows: ({ side_effects }) => side_effects.map(rowOf),
      empty: 'No call left anything behind.',
      more: '--after',
    }),
  });
  operation('side-effects.get', { command: 'show', help: 'what one call left behind', print: members });
  addCompensateCommand(effects, kit);
}

const rowOf = ({ id, tool_name, policy, status, turn_group_id = '', started_at }: SideEffectRecord): string[] => [
  id,
  tool_name,
  policy,
  status,
  turn_group_id,
  started_at,
];

interface CompensateOptions {
  readonly turn?: string;
  readonly arguments?: string;
  readonly continueOnFailure?: boolean;
  readonly token?: string;
}

function addCompensateCommand(effects: Command, kit: CommandKit): void {
  const compensate = effects
    .command('compensate')
    .description('take back what calls left behind, the last first, each once')
    .argument('[invocation-id...]', 'the calls, in the order in which they ran')
    .option('--turn <id>', 'all of one turn group')
    .option('--arguments <json>', 'arguments of the compensating tool, for one call: JSON object, @file, or -')
    .option('--continue-on-failure', 'go on after one that could not be taken back')
    .option('--token <token>', 'capability token; without it one is made for these calls');
  kit.asking<CompensateOptions>(compensate, async (work, [given], options) => {
    const ids = [given ?? []].flat();
    if ((ids.length === 0) === (options.turn === undefined))
      throw usageError('Name calls, or a turn group with --turn.');
    if (options.arguments !== undefined && ids.length !== 1) throw usageError('--arguments are for one call.');
    const token = options.token ?? work.parts.io.env['SALLYPORT_TOKEN'] ?? (await mintFor(work, ids, options.turn));
    const caller = token === undefined ? work.caller : { ...work.caller, token };
    const outcomes = await takeBack(work, ids, options, caller);
    if (work.print.json) work.print.value({ outcomes });
    else printOutcomes(outcomes, work.print);
    return outcomes.every(({ outcome }) => GOOD.has(outcome)) ? EXIT.ok : EXIT.refused;
  });
}

const GOOD: ReadonlySet<CompensationOutcome['outcome']> = new Set(['compensated', 'not_compensatable']);

async function takeBack(
  { layer, parts }: CommandWork,
  ids: readonly string[],
  options: CompensateOptions,
  caller: Caller,
): Promise<readonly CompensationOutcome[]> {
  const [only] = ids;
  if (only !== undefined && ids.length === 1) {
    const said = options.arguments === undefined ? {} : { arguments: await readArguments(options.arguments, parts.io) };
    return [await layer.ask('side-effects.compensate', { invocation_id: only, ...said }, caller)];
  }
  const which = options.turn === undefined ? { invocation_ids: [...ids] } : { turn_group_id: options.turn };
  const all = { ...which, continue_on_failure: options.continueOnFailure === true };
  return (await layer.ask('side-effects.compensate-all', all, caller)).outcomes;
}

/** Most side effects of a turn that are searched for their tools. */
const LISTED_MAX = 200;

/**
 * Mints an operator's token for the tools that compensate these calls, with the rights their manifests ask for: the
 * person at this machine may grant them. Undefined when no call can be compensated; the layer then says why.
 */
async function mintFor(
  { layer, caller }: CommandWork,
  ids: readonly string[],
  turn: string | undefined,
): Promise<string | undefined> {
  const effects =
    turn === undefined
      ? await Promise.all(ids.map((id) => layer.ask('side-effects.get', { invocation_id: id }, caller)))
      : (await layer.ask('side-effects.list', { turn_group_id: turn, limit: LISTED_MAX }, caller)).side_effects;
  const tools = [...new Set(effects.flatMap(({ compensation_tool }) => compensation_tool ?? []))];
  const manifests = await Promise.all(
    tools.map(async (tool_id) => (await layer.ask('tools.get', { tool_id }, caller)).manifest),
  );
  const [tool] = tools;
  if (tool === undefined) return undefined;
  const minted = await layer.ask(
    'tokens.mint',
    {
      // A token names one tool or a pattern; several tools share no pattern but `*`.
      tool_id: tools.length === 1 ? tool : '*',
      roles: ['agent', 'operator'],
      expires_in_seconds: TOKEN_SECONDS,
      ...permissionsOf(manifests),
    },
    caller,
  );
  return minted.capability_token;
}

function permissionsOf(manifests: readonly ToolManifest[]) {
  const filesystem = manifests.flatMap(({ permissions }) => permissions?.filesystem ?? []);
  const network = manifests.flatMap(({ permissions }) => permissions?.network ?? []);
  const credentials = manifests.flatMap(({ permissions }) => permissions?.credentials ?? []);
  const mode = filesystem.some((each) => each.mode === 'rw') ? ('rw' as const) : ('ro' as const);
  return {
    ...(filesystem.length === 0 ? {} : { paths: unique(filesystem.map(({ path }) => path)), mode }),
    ...(network.length === 0 ? {} : { hosts: unique(network.map(({ host }) => host)) }),
    ...(network.length === 0 ? {} : { ports: unique(network.map(({ port }) => port)) }),
    ...(credentials.length === 0 ? {} : { secrets: unique(credentials) }),
  };
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

function printOutcomes(outcomes: readonly CompensationOutcome[], print: Printer): void {
  if (outcomes.length === 0) print.note('Nothing was left behind.');
  else {
    print.table(
      ['CALL', 'TOOL', 'OUTCOME', 'TAKEN BACK BY', 'ERROR'],
      outcomes.map(({ invocation_id, tool_name = '', outcome, already, compensation_id = '', error }) => [
        invocation_id,
        tool_name,
        already === true ? `${outcome} before` : outcome,
        compensation_id,
        error === undefined ? '' : `${error.e_code} ${error.message}`,
      ]),
    );
  }
}
