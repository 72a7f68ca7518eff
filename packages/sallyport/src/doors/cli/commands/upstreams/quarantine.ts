import type { Command } from 'commander';
import type { DefinitionChange, QuarantinedTool } from '../../../../../api/schemas/registry/quarantine.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { usageError } from '../../input/usage-error.ts';
import type { Printer } from '../../output/printer.ts';
import { printRegistrations } from '../../output/registrations.ts';

interface DecisionOptions {
  readonly all?: boolean;
  readonly hash?: string;
}

/** `upstreams quarantine|accept|reject`. */
export function addQuarantineCommands(upstreams: Command, kit: CommandKit): void {
  const list = upstreams
    .command('quarantine')
    .description('show the tools that wait for you, with what their server changed')
    .argument('[name]', 'of one upstream')
    .argument('[tool]', 'one tool, by its id or by its name');
  kit.asking(list, async ({ layer, caller, print }, [name, tool]) => {
    const input = {
      ...(name === undefined ? {} : { name: String(name) }),
      ...(tool === undefined ? {} : { tool: String(tool) }),
    };
    const answer = await layer.ask('upstreams.quarantine', input, caller);
    if (print.json) print.value(answer);
    else tell(answer.quarantined, answer.pagination.total_count, print);
    return EXIT.ok;
  });
  const accept = decision(upstreams, 'accept', 'accept what a server serves now, as a new version');
  kit.asking<DecisionOptions>(accept, async ({ layer, caller, print }, args, options) => {
    const answer = await layer.ask('upstreams.accept', decisionOf(args, options), caller);
    const { registrations, left_out } = answer;
    if (print.json) print.value(answer);
    else if (registrations.length > 0) printRegistrations(print, registrations);
    else print.line('Nothing was accepted.');
    if (left_out.length > 0 && !print.json) {
      print.note(`left out, since something in them is suspicious: ${left_out.join(', ')}. Name each to accept it.`);
    }
    return registrations.some(({ outcome }) => outcome === 'refused') ? EXIT.refused : EXIT.ok;
  });
  const reject = decision(upstreams, 'reject', 'refuse what a server serves now');
  kit.asking<DecisionOptions>(reject, async ({ layer, caller, print }, args, options) => {
    const answer = await layer.ask('upstreams.reject', decisionOf(args, options), caller);
    if (print.json) print.value(answer);
    else if (answer.rejected.length === 0) print.line('Nothing was rejected.');
    else for (const toolId of answer.rejected) print.line(`rejected ${toolId}`);
    return EXIT.ok;
  });
}

function decision(upstreams: Command, name: string, description: string): Command {
  return upstreams
    .command(name)
    .description(description)
    .argument('<name>', 'the upstream')
    .argument('[tool]', 'the tool, by its id or by its name')
    .option('--all', 'every tool of it that waits')
    .option('--hash <hash>', 'only if this definition is still what is served');
}

function decisionOf([name, tool]: readonly unknown[], { all, hash }: DecisionOptions) {
  if ((tool === undefined) === (all === undefined)) throw usageError('Name one tool, or give --all.');
  return {
    name: String(name),
    ...(tool === undefined ? { all: true as const } : { tool: String(tool) }),
    ...(hash === undefined ? {} : { content_hash: hash }),
  };
}

function tell(tools: readonly QuarantinedTool[], total: number, print: Printer): void {
  if (tools.length === 0) print.line('Nothing waits in quarantine.');
  for (const [index, tool] of tools.entries()) {
    if (index > 0) print.line('');
    tellTool(tool, print);
  }
  if (total > tools.length) print.note(`${total - tools.length} more; name an upstream to see fewer.`);
}

const WHY: Readonly<Record<QuarantinedTool['reason'], string>> = {
  changed: 'its server changed it',
  flagged: 'its description may hold hidden instructions',
  new: 'its server added it later',
  rejected: 'you rejected what is served',
};

function tellTool(tool: QuarantinedTool, print: Printer): void {
  const { tool_id, reason, accepted_version, findings, changes, changes_left_out, upstream, breaking } = tool;
  const version = accepted_version === undefined ? '' : ` (accepted: ${accepted_version})`;
  print.line(`${tool_id}: ${WHY[reason]}${version}`, 'strong');
  print.line(`  noticed ${tool.noticed_at}, hash ${tool.content_hash.slice(0, 16)}…`, 'dim');
  for (const { kind, path, excerpt } of findings) print.line(`  ! ${kind} at ${path}: ${excerpt}`, 'bad');
  if (breaking)
    print.line('  Breaks its callers: calls that were good may fail, or results take another form.', 'warning');
  for (const change of changes) tellChange(change, print);
  if (changes_left_out > 0) print.line(`  … and ${changes_left_out} more changes`, 'dim');
  if (reason === 'changed' && changes.length === 0) print.line('  Only in members that the layer does not use.', 'dim');
  if (reason !== 'rejected') print.line(`  sallyport upstreams accept ${upstream} ${tool_id}`, 'dim');
}

function tellChange({ path, kind, before, after }: DefinitionChange, print: Printer): void {
  print.line(`  ${path === '' ? '(whole)' : path} ${kind}`);
  for (const line of linesOf(before)) print.line(`  - ${line}`, 'bad');
  for (const line of linesOf(after)) print.line(`  + ${line}`, 'good');
}

/** Texts as people read them, everything else as JSON. */
function linesOf(json: string | undefined): readonly string[] {
  if (json === undefined) return [];
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value.split('\n') : [json];
  } catch {
    return [json];
  }
}
