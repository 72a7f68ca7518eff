import { ERRORS, type ErrorEntry } from '@sallyport/std/error/catalogue';
import { isTaken } from '../packages/sallyport/src/compose/settings/specifications/source-key.ts';
import { SOURCE_KEYS } from '../packages/sallyport/src/compose/settings/specifications/source-keys.ts';
import { SETTINGS, variableOf } from '../packages/sallyport/src/compose/settings.ts';
import { isFinal, statusOf, TRANSITIONS } from '../packages/sallyport/src/domain/invocation/lifecycle.ts';
import type { CliParts } from '../packages/sallyport/src/doors/cli/cli-parts.ts';
import { createProgram } from '../packages/sallyport/src/doors/cli/create-program.ts';
import { OPERATIONS, type OperationEntry } from '../packages/sallyport/src/operations/catalogue.ts';

/** A row of the settings table, as far as its document needs it. */
export interface SettingRow {
  readonly key: string;
  readonly type: string;
  readonly unit?: string;
  readonly default: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly oneOf?: readonly string[];
  readonly sentence: string;
}

/** docs/errors.md: the error catalogue. */
export function errorsDocument(): string {
  const rows = Object.entries(ERRORS).map(([code, entry]: [string, ErrorEntry]) => [
    code,
    `\`${entry.wire}\``,
    entry.category,
    entry.failure,
    entry.http,
    entry.grpc,
    entry.rpc,
    yes(entry.retryable),
    yes(entry.quality),
    entry.means,
  ]);
  return document(
    'Errors',
    'packages/std/src/error/catalogue.ts',
    'Every unhappy answer carries one of these codes (`e_code`), its wire code (`code`) and its category. JSON-RPC `result` means that\nthe model reads the error as the result of its call; a number means a protocol error. *Retryable*: the same call may succeed\nlater without a change. *Quality*: the arguments were at fault.',
    ['Code', 'Wire code', 'Category', 'Failure', 'HTTP', 'gRPC', 'JSON-RPC', 'Retryable', 'Quality', 'Meaning'],
    rows,
  );
}

/** docs/calls/lifecycle.md: the states of an invocation. */
export function lifecycleDocument(): string {
  const states = Object.keys(TRANSITIONS) as (keyof typeof TRANSITIONS)[];
  return document(
    'Lifecycle of an invocation',
    'packages/sallyport/src/domain/invocation/lifecycle.ts',
    'Each invocation is in one of these states and moves only as the table says; every move is an audited event. *Status* is what\n`invocations.get` shows for a state; where a failure ended the call, its code decides between `error`, `timeout`, `cancelled`,\n`permission_denied` and `pending_approval`.',
    ['State', 'May be followed by', 'Final', 'Status'],
    states.map((state) => [state, TRANSITIONS[state].join(', '), yes(isFinal(state)), `\`${statusOf(state)}\``]),
  );
}

/** docs/operations.md: what can be asked of the layer. */
export function operationsDocument(): string {
  const rows = Object.entries(OPERATIONS).map(([name, entry]: [string, OperationEntry]) => [
    `\`${name}\``,
    `\`${entry.method} ${entry.path}\``,
    entry.status,
    entry.layerWide === true ? `${entry.access}, layer-wide` : entry.access,
    entry.summary,
    membersOf(entry.input),
  ]);
  return document(
    'Operations',
    'the files that packages/sallyport/src/operations/catalogue.ts lists',
    'Every door offers these operations and nothing else. *Access*: open to anyone; any valid token; or a token with that\nrole or a greater one. Layer-wide: of the tenants that the layer is run by ([roles](tokens.md#roles)). Members of the input that may\nbe left out are in brackets.\n\nNames: `<plural noun>.<verb or noun>` in kebab-case (`audit`, `availability`, `visibility` and `health` have no plural). Routes: plural nouns,\nat most one id, and what is made of it as a noun: `POST /v1/upstreams/{name}/acceptance`. A test holds both.',
    ['Operation', 'HTTP', 'Status', 'Access', 'What it does', 'Input'],
    rows,
  );
}

/** What stands around the table of commands, which is written by a program in a document that people write. */
const COMMANDS_BEGIN = '<!-- Written by `npm run generate` from the program, until the end of the table. -->';
const COMMANDS_END = '<!-- End of the table. -->';
/** Stated once for all commands, above the table. */
const EVERYWHERE: ReadonlySet<string | undefined> = new Set(['--data-folder', '--json']);

/**
 * docs/cli.md with its table of commands as the program has them.
 * @param current the document as it is
 */
export function commandsDocument(current: string): string {
  const program = createProgram({ io: {}, version: '0' } as CliParts, false, () => undefined);
  const rows = leaves(program).map(([name, command]) => {
    const options = command.options.filter(({ long }) => !EVERYWHERE.has(long ?? undefined)).map(optionUse);
    return [
      `\`${[name, ...command.registeredArguments.map(argumentUse), ...options].join(' ')}\``,
      command.description(),
    ];
  });
  const [before = '', rest = ''] = current.split(COMMANDS_BEGIN);
  const [, after = ''] = rest.split(COMMANDS_END);
  return `${before}${COMMANDS_BEGIN}\n\n${table(['Command', 'What it does'], rows)}\n\n${COMMANDS_END}${after}`;
}

type Command = ReturnType<typeof createProgram>;

function leaves(command: Command, path = ''): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.trim(), command]];
  return command.commands.flatMap((each) => leaves(each, `${path} ${each.name()}`));
}

function argumentUse(argument: Command['registeredArguments'][number]): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

const optionUse = ({ flags, mandatory }: Command['options'][number]): string => (mandatory ? flags : `[${flags}]`);

/** docs/settings.md: the settings. */
export function settingsDocument(settings: readonly SettingRow[]): string {
  return document(
    'Settings',
    'packages/sallyport/src/compose/settings.ts',
    'The file is `sallyport.toml` in the folder in which the layer is started. A key is the path of its table and name; the environment variable,\nwhose name follows from the key, wins over the file.',
    ['Key', 'Variable', 'Values', 'Unit', 'Default', 'Meaning'],
    settings.map((row) => [
      `\`${row.key}\``,
      `\`${variableOf(row)}\``,
      valuesOf(row),
      row.unit ?? '',
      row.default === undefined ? '' : `\`${JSON.stringify(row.default)}\``,
      row.sentence,
    ]),
  );
}

function valuesOf({ type, minimum, maximum, oneOf }: SettingRow): string {
  if (oneOf !== undefined) return oneOf.map((value) => `\`${value}\``).join(', ');
  const least = minimum === undefined ? type : `${type} ≥ ${minimum}`;
  return maximum === undefined ? least : `${least}, ≤ ${maximum}`;
}

/** docs/specifications/settings.md: what the configuration keys of the specifications became. */
export function sourceKeysDocument(): string {
  const defaults = new Map<string, unknown>(SETTINGS.map((row) => [row.key, row.default]));
  return document(
    'Configuration keys of the specifications',
    'packages/sallyport/src/compose/settings/specifications/',
    'Each configuration key of the five specifications, the default that they state, and what it is here. `*` is any one name, `[]` each entry\nof a list. Keys of one tool or one call are listed too, with the member that holds them here. `sallyport config migrate FILE` reads a file in\nthese words ([how](../cli.md#taking-over-a-configuration)).',
    ['Key', 'Source', 'Default there', 'Setting here', 'Default here', 'What differs, or why there is none'],
    SOURCE_KEYS.map(({ key, source, section, default: otherwise, became }) => [
      `\`${key}\``,
      `${source} ${section}`,
      otherwise === undefined ? '' : jsonOf(otherwise),
      ...(isTaken(became)
        ? [
            became.settings.map((setting) => `\`${setting}\``).join(', '),
            became.settings.map((setting) => jsonOf(defaults.get(setting))).join(', '),
            became.means,
          ]
        : ['', '', became.left]),
    ]),
  );
}

const jsonOf = (value: unknown): string => `\`${JSON.stringify(value)}\``;

type Cell = string | number;

function document(
  title: string,
  source: string,
  lead: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): string {
  const note = `<!-- Written by \`npm run generate\` from ${source}. Change it there. -->`;
  return `# ${title}\n\n${note}\n\n${lead}\n\n${table(head, rows)}\n`;
}

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function yes(value: boolean): string {
  return value ? 'yes' : '';
}

function membersOf(schema: object): string {
  const { properties = {}, required = [] } = schema as { properties?: object; required?: readonly string[] };
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? `\`${name}\`` : `[\`${name}\`]`))
    .join(', ');
}
