import type { Command } from 'commander';
import type { ImportReport, LangChainImport } from '../../../../../api/schemas/imports.ts';
import { isObject } from '../../../../domain/shape/is-object.ts';
import { readWireText } from '../../../wire-json.ts';
import { EXIT } from '../../cli-parts.ts';
import type { AskingRun, CommandKit, CommandWork } from '../../command-kit.ts';
import { collect, oneOf } from '../../input/option-values.ts';
import { readFolder } from '../../input/read-folder.ts';
import { readSource } from '../../input/read-source.ts';
import { usageError } from '../../input/usage-error.ts';
import { printImport } from '../../output/import-report.ts';

/** Options of every import. */
interface ImportOptions {
  readonly name?: string;
  readonly bump?: boolean;
  readonly dryRun?: boolean;
}

const USER_FROM = ['agent', 'tenant'] as const;

interface ComposioOptions extends ImportOptions {
  readonly tool?: readonly string[];
  readonly search?: string;
  readonly baseUrl?: string;
  readonly secret?: string;
  readonly connectedAccount?: string;
  readonly user?: string;
  readonly userFrom?: (typeof USER_FROM)[number];
}

/** `tools import openapi|langchain|skill|composio`. */
export function addToolsImportCommands(tools: Command, kit: CommandKit): void {
  const group = tools.command('import').description('register tools from a document or a folder');

  const openapi = importCommand(group, 'openapi', 'register each operation of an OpenAPI document')
    .argument('<source>', 'file, http(s) address, or - for standard input')
    .option('--base-url <url>', 'address of the service, instead of those in the document');
  importing<ImportOptions & { baseUrl?: string }>(kit, openapi, async (work, [source], options) => {
    const document = await readSource(String(source), work.parts.io);
    const { baseUrl } = options;
    const address = baseUrl === undefined ? {} : { base_url: baseUrl };
    const input = { document, source: String(source), ...address, ...inputOf(options) };
    return ended(work, await work.layer.ask('tools.import-openapi', input, work.caller));
  });

  const langchain = importCommand(group, 'langchain', 'register serialised LangChain tools')
    .argument('<source>', 'JSON, or one JSON object a line: file, http(s) address, or - for standard input')
    .option('--tool-version <version>', 'version of tools that name none; 1.0.0 when absent');
  importing<ImportOptions & { toolVersion?: string }>(kit, langchain, async (work, [source], options) => {
    const text = await readSource(String(source), work.parts.io);
    const { toolVersion } = options;
    const version = toolVersion === undefined ? {} : { version: toolVersion };
    const name = source === '-' ? 'Standard input' : String(source);
    const input = { tools: toolsIn(name, text), ...version, ...inputOf(options) };
    return ended(work, await work.layer.ask('tools.import-langchain', input, work.caller));
  });

  const skill = importCommand(group, 'skill', 'register the skill of a folder, or each skill in its folders').argument(
    '<folder>',
    'folder with SKILL.md, or with folders that have one; links are refused',
  );
  importing<ImportOptions>(kit, skill, async (work, [folder], options) => {
    const files = await readFolder(String(folder), work.parts.io);
    if (files.length === 0) throw usageError(`${String(folder)} is empty. Name the folder that SKILL.md stands in.`);
    const input = { files, ...inputOf(options) };
    return ended(work, await work.layer.ask('tools.import-skill', input, work.caller));
  });
  addComposio(group, kit);
}

/** The key is named, never typed: it stays in the layer's secret store. */
function addComposio(group: Command, kit: CommandKit): void {
  const composio = importCommand(group, 'composio', 'register tools of Composio')
    .argument('[toolkit]', 'only its tools, as github; all that the project has when absent')
    .option('--tool <slug>', 'only this tool; may come several times', collect)
    .option('--search <words>', 'only tools that are found by these words')
    .option('--base-url <url>', "address of the API, instead of Composio's own")
    .option('--secret <name>', "name of the secret that is the project's API key; composio_api_key when absent")
    .option('--connected-account <id>', 'account that the tools use')
    .option('--user <id>', 'one user for all callers')
    .option('--user-from <whom>', 'the user is who calls: agent (when nothing is said) or tenant', oneOf(USER_FROM));
  importing<ComposioOptions>(kit, composio, async (work, [toolkit], options) => {
    const { tool, search, baseUrl, secret, connectedAccount, user, userFrom } = options;
    const input = {
      ...(toolkit === undefined ? {} : { toolkit: String(toolkit) }),
      ...(tool === undefined ? {} : { tools: [...tool] }),
      ...(search === undefined ? {} : { search }),
      ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
      ...(secret === undefined ? {} : { secret }),
      ...(connectedAccount === undefined ? {} : { connected_account_id: connectedAccount }),
      ...(user === undefined ? {} : { user_id: user }),
      ...(userFrom === undefined ? {} : { user_from: userFrom }),
      ...inputOf(options),
    };
    return ended(work, await work.layer.ask('tools.import-composio', input, work.caller));
  });
}

function importCommand(group: Command, name: string, description: string): Command {
  return group
    .command(name)
    .description(description)
    .option('--name <name>', 'prefix of the tool ids')
    .option('--bump', 'register what changed under the next version instead of refusing it')
    .option('--dry-run', 'say what would happen; nothing is written');
}

/** What would be registered can be said without a data folder; nothing is made for it. */
function importing<O extends ImportOptions>(kit: CommandKit, command: Command, run: AskingRun<O>): void {
  kit.adding<O>(command, run, ({ dryRun }) => (dryRun === true ? 'borrow' : 'make'));
}

function inputOf({ name, bump, dryRun }: ImportOptions): { name?: string; bump?: boolean; dry_run?: boolean } {
  return {
    ...(name === undefined ? {} : { name }),
    ...(bump === undefined ? {} : { bump }),
    ...(dryRun === undefined ? {} : { dry_run: dryRun }),
  };
}

function ended({ print }: CommandWork, report: ImportReport): number {
  printImport(print, report);
  return report.registrations.some(({ outcome }) => outcome === 'refused') ? EXIT.refused : EXIT.ok;
}

/** One JSON value, or JSON Lines: whichever the text is. */
function toolsIn(name: string, text: string): LangChainImport['tools'] {
  const whole = readWireText(text);
  if (whole.ok) return objectsIn(name, whole.value);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const read = lines.map(readWireText);
  const bad = read.findIndex((line) => !line.ok);
  // A text of one line, or whose first line is none alone, was meant as one value.
  if (lines.length < 2 || bad === 0)
    throw usageError(`${name}: ${whole.failure.message.replace('The request', 'The text')}`);
  const fault = read[bad];
  if (fault?.ok === false)
    throw usageError(`${name}, line ${bad + 1}: ${fault.failure.message.replace('The request', 'The text')}`);
  return objectsIn(
    name,
    read.map((line) => (line.ok ? line.value : undefined)),
  );
}

function objectsIn(name: string, value: unknown): LangChainImport['tools'] {
  const values = Array.isArray(value) ? value : [value];
  if (values.length === 0 || !values.every(isObject)) {
    throw usageError(`${name} must hold tools as JSON objects: a list, or an object with them.`);
  }
  return value as LangChainImport['tools'];
}
