import { type DescribedTool, scanDescription } from '@sallyport/guards';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { stdinValue } from './stdin-values.ts';

/** `check description`: looks for hidden instructions in tool descriptions; exit code 1 when there may be some. */
export function addDescriptionCheck(check: Command, kit: CommandKit): void {
  const description = check
    .command('description')
    .description('find hidden instructions in a description, a tool, a list of tools or the answer to tools/list');
  kit.action(description, async (_args, _options, print) => {
    const tools = toolsOf(await stdinValue(kit.parts.io));
    const scanned = tools.map((tool) => ({ name: tool.name, ...scanDescription(tool) }));
    const clean = scanned.every(({ verdict }) => verdict === 'clean');
    if (print.json) print.value({ clean, tools: scanned });
    else {
      const found = scanned.filter(({ verdict }) => verdict !== 'clean');
      const rows = found.flatMap(({ name, findings }) =>
        findings.map(({ rule, field, start, why }) => [name, rule, field, String(start), why]),
      );
      if (clean) print.line('nothing found', 'good');
      else print.table(['TOOL', 'RULE', 'FIELD', 'AT', 'WHY'], rows);
    }
    return clean ? EXIT.ok : EXIT.refused;
  });
}

/**
 * A plain text is taken as a description; of a tool, every member but its name and description is judged under its own
 * name.
 */
function toolsOf(value: unknown): readonly DescribedTool[] {
  if (Array.isArray(value)) return value.flatMap(toolsOf);
  if (typeof value !== 'object' || value === null) return [{ name: '', description: String(value) }];
  if ('tools' in value) return toolsOf(value.tools);
  const { name, tool_id, description, ...more } = value as Readonly<Record<string, unknown>>;
  return [{ name: String(name ?? tool_id ?? ''), description: String(description ?? ''), more }];
}
