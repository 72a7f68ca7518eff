import type { ToolSearchResponse } from '../../../../../api/schemas/registry/search.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';

/** Tools shown by default. */
const SHOWN_DEFAULT = 10;

/** `tools search`. */
export function addToolsSearchCommand(operation: AddOperation): void {
  operation('tools.search', {
    command: 'search',
    help: 'find tools by what they do',
    args: ['query'],
    members: {
      // The layer validates the words; they are passed on as typed.
      category: { help: 'only tools of this category', parse: String },
      executor: { flags: '--executor <kind>', help: 'only tools of this kind: shell, http, mcp, …', parse: String },
      tags: { help: 'only tools that carry it; several mean all of them' },
      query: { flags: 'words...', help: 'what is to be done, in your own words' },
      threshold: { flags: '--threshold <similarity>', help: 'least similarity where no word is found, 0 to 1' },
      page_size: { flags: '--limit <n>', help: 'tools to show, 200 at most', default: SHOWN_DEFAULT },
      page: { help: 'which of the pages', default: 1 },
    },
    input: ({ query, ...given }) => ({ ...given, query: [query].flat().join(' ') }),
    print: show,
  });
}

function show(answer: ToolSearchResponse, print: Printer): void {
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
