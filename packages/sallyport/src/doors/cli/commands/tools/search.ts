import { type Command, InvalidArgumentError } from 'commander';
import type { ToolSearchRequest, ToolSearchResponse } from '../../../../../api/schemas/registry/search.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { collect, count, oneOf } from '../../input/option-values.ts';
import type { Printer } from '../../output/printer.ts';

/** Tools shown when the caller names no number. */
const SHOWN_DEFAULT = 10;

interface SearchOptions {
  readonly category?: string;
  readonly tag?: string[];
  readonly executor?: string;
  readonly tier?: ToolSearchRequest['tier'];
  readonly threshold?: number;
  readonly limit: number;
  readonly page: number;
}

/** `tools search`. */
export function addToolsSearchCommand(tools: Command, kit: CommandKit): void {
  const search = tools
    .command('search')
    .description('find tools by what they do')
    .argument('<words...>', 'what is to be done, in your own words')
    .option('--category <category>', 'only tools of this category')
    .option('--tag <tag>', 'only tools that carry it; several mean all of them', collect)
    .option('--executor <kind>', 'only tools of this kind: shell, http, mcp, …')
    .option('--tier <tier>', 'among: catalog, tenant or agent', oneOf(['catalog', 'tenant', 'agent']))
    .option('--threshold <similarity>', 'least similarity where no word is found, 0 to 1', similarity)
    .option('--limit <number>', 'tools to show, 200 at most', count, SHOWN_DEFAULT)
    .option('--page <number>', 'which of the pages', count, 1);
  kit.asking<SearchOptions>(search, async ({ layer, caller, print }, [words], options) => {
    const answer = await layer.ask('tools.search', requestOf(words as string[], options), caller);
    show(answer, print);
    return EXIT.ok;
  });
}

/** The layer judges the values; they are passed on as they were typed. */
function requestOf(words: readonly string[], options: SearchOptions): ToolSearchRequest {
  const { category, tag, executor, tier, threshold, limit, page } = options;
  const given = Object.entries({ category, tags: tag, executor, tier, threshold });
  const wanted = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  return { query: words.join(' '), page_size: limit, page, ...wanted };
}

function show(answer: ToolSearchResponse, print: Printer): void {
  if (print.json) {
    print.value(answer);
    return;
  }
  const { results, pagination, progress, warnings } = answer;
  for (const { code, message } of warnings) print.note(`${code} ${message}`);
  if (progress !== undefined && progress.pending > 0)
    print.note(`${progress.pending} tools are found by words only until they have been read.`);
  if (results.length === 0) {
    print.note('No tool was found. Say it otherwise, or lower --threshold.');
    return;
  }
  const rows = results.map(({ tool, similarity: near }) => [
    tool.tool_id,
    tool.latest_version,
    near === undefined ? '' : near.toFixed(2),
    tool.executor,
    tool.description,
  ]);
  print.table(['TOOL', 'VERSION', 'SIMILARITY', 'EXECUTOR', 'DESCRIPTION'], rows);
  if (pagination.total_count > pagination.page * pagination.page_size)
    print.note(`${pagination.total_count} were found; --page ${pagination.page + 1} shows more.`);
}

function similarity(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1)) throw new InvalidArgumentError('Write a number from 0 to 1.');
  return value;
}
