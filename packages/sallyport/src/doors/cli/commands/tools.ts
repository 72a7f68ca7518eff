import { type Failure, failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import type {
  EffectiveManifest,
  Registration,
  ToolDetail,
  ToolListRequest,
  ToolSummary,
} from '../../../../api/schemas/registry.ts';
import { EXIT } from '../cli-parts.ts';
import type { CommandKit, CommandWork } from '../command-kit.ts';
import { collect } from '../input/option-values.ts';
import { readManifests } from '../input/read-json.ts';
import { operationCommands } from '../operation/operation-command.ts';
import type { Printer } from '../output/printer.ts';
import { printRegistrations } from '../output/registrations.ts';
import { members } from '../output/templates.ts';
import { addToolsImportCommands } from './tools/import.ts';
import { addToolsLifecycleCommands } from './tools/lifecycle.ts';
import { addToolsSearchCommand } from './tools/search.ts';
import { addToolsVersionCommands } from './tools/versions.ts';

/** Tools on one page of a request. */
const PAGE_SIZE = 200;

interface ListOptions {
  readonly category?: string;
  readonly tag?: readonly string[];
  readonly executor?: string;
  readonly query?: string;
}

/** `tools list|show|add`, and the commands of the files in `tools/`. */
export function addToolsCommands(program: Command, kit: CommandKit): void {
  const tools = program.command('tools').description('see and change the registered tools');
  const operation = operationCommands(tools, kit);
  addList(tools, kit);
  operation('tools.get', { command: 'show', help: 'show one tool with its manifest', print: show });
  operation('contexts.get', {
    command: 'context',
    help: 'references to the secrets of a tool, its limits, and the context of the session of an agent',
    print: members,
  });
  addToolsSearchCommand(operation);

  const add = tools
    .command('add')
    .description('register manifest files')
    .argument('<files...>', 'JSON or YAML; one manifest or a list');
  kit.adding(add, async (work, [files]) => addManifests(work, files as string[]));

  addToolsVersionCommands(tools, kit);
  addToolsLifecycleCommands(operation);
  const group = tools.command('import').description('register tools from a document or a folder');
  addToolsImportCommands(operationCommands(group, kit));
}

function addList(tools: Command, kit: CommandKit): void {
  const list = tools
    .command('list')
    .description('list the tools')
    .option('--category <category>', 'only tools of this category')
    .option('--tag <tag>', 'only tools that carry it; several mean all of them', collect)
    .option('--executor <kind>', 'only tools of this kind: shell, http, mcp, …')
    .option('--query <words>', 'words in id, name and description');
  kit.asking<ListOptions>(list, async (work, _args, options) => {
    const found = await allTools(work, options);
    if (work.print.json) work.print.value({ tools: found });
    else if (found.length === 0) work.print.note('No tool matches. Register some with: sallyport tools add FILE');
    else {
      const rows = found.map((tool) => [
        tool.tool_id,
        tool.latest_version,
        tool.state ?? 'active',
        tool.executor,
        tool.tags.join(','),
        tool.description,
      ]);
      work.print.table(['TOOL', 'VERSION', 'STATE', 'EXECUTOR', 'TAGS', 'DESCRIPTION'], rows);
    }
    return EXIT.ok;
  });
}

async function allTools({ layer, caller }: CommandWork, options: ListOptions): Promise<readonly ToolSummary[]> {
  const { category, tag, executor, query } = options;
  // The layer validates the words; they are passed on as typed.
  const wanted = {
    ...(category === undefined ? {} : { category }),
    ...(tag === undefined ? {} : { tags: [...tag] }),
    ...(executor === undefined ? {} : { executor }),
    ...(query === undefined ? {} : { capability_query: query }),
  } as ToolListRequest;
  const found: ToolSummary[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await layer.ask('tools.list', { ...wanted, page, page_size: PAGE_SIZE }, caller);
    found.push(...answer.tools);
    if (answer.tools.length === 0 || found.length >= answer.pagination.total_count) return found;
  }
}

function show({ manifest, effective, ...about }: ToolDetail, print: Printer): void {
  for (const { code, message } of about.warnings) print.note(`${code}: ${message}`);
  print.line(`# ${about.state}, versions ${about.versions.join(', ')}, registered ${about.registered_at}`);
  if (effective !== undefined) print.line(`# ${limitsOf(effective)}`);
  print.text(stringify(manifest).trimEnd());
}

/** The limits of a tool's calls, defaults included. */
function limitsOf({ execution_config: config, side_effect_policy }: EffectiveManifest): string {
  return [
    side_effect_policy,
    `${config.default_timeout_seconds} s`,
    `${config.default_cpu_millicore_limit} millicores`,
    `${config.default_memory_mb_limit} MB`,
    `${config.retry_policy?.max_attempts} attempts`,
  ].join(', ');
}

/** Adds every manifest; a refused one does not stop the others. */
async function addManifests(work: CommandWork, files: readonly string[]): Promise<number> {
  const { layer, caller, print, parts } = work;
  const done: Registration[] = [];
  const refused: { file: string; failed: Failure }[] = [];
  for (const file of files) {
    for (const manifest of await readManifests(file, parts.io)) {
      try {
        const registration = await layer.ask('tools.register', { manifest }, caller);
        if (registration.outcome === 'refused') refused.push({ file, failed: refusalOf(registration) });
        else done.push(registration);
      } catch (thrown) {
        const failed = failureOf(thrown);
        if (failed.details?.['layer'] === 'unreachable') throw thrown;
        refused.push({ file, failed });
      }
    }
  }
  if (print.json) print.value({ registrations: done });
  else printRegistrations(print, done);
  for (const { file, failed } of refused) print.failure({ ...failed, message: `${file}: ${failed.message}` });
  return refused.length === 0 ? EXIT.ok : EXIT.refused;
}

function refusalOf({ tool_id, version, error = {} }: Registration): Failure {
  const { message, details } = error as { message?: string; details?: Record<string, unknown> };
  const what = message ?? `${tool_id} ${version} was refused.`;
  return failure('E3008', what, details === undefined ? {} : { details });
}
