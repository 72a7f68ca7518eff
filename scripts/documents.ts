import { ERRORS, type ErrorEntry } from '@sallyport/std/error/catalogue';
import { variableOf } from '../packages/sallyport/src/compose/settings.ts';
import { isFinal, statusOf, TRANSITIONS } from '../packages/sallyport/src/domain/invocation/lifecycle.ts';
import { OPERATIONS, type OperationEntry } from '../packages/sallyport/src/operations/catalogue.ts';

/** A row of the settings table, as far as its document needs it. */
export interface SettingRow {
  readonly key: string;
  readonly type: string;
  readonly unit?: string;
  readonly default: unknown;
  readonly minimum?: number;
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

/** docs/settings.md: the settings. */
export function settingsDocument(settings: readonly SettingRow[]): string {
  return document(
    'Settings',
    'packages/sallyport/src/compose/settings.ts',
    'A key of `sallyport.toml` is the path of its table and name; the environment variable, whose name follows from the key, wins over\nthe file.',
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

function valuesOf({ type, minimum, oneOf }: SettingRow): string {
  if (oneOf !== undefined) return oneOf.map((value) => `\`${value}\``).join(', ');
  return minimum === undefined ? type : `${type} ≥ ${minimum}`;
}

type Cell = string | number;

function document(
  title: string,
  source: string,
  lead: string,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): string {
  const line = (cells: readonly Cell[]) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  const note = `<!-- Written by \`npm run generate\` from ${source}. Change it there. -->`;
  const table = [line(head), line(head.map(() => '---')), ...rows.map(line)];
  return `# ${title}\n\n${note}\n\n${lead}\n\n${table.join('\n')}\n`;
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
