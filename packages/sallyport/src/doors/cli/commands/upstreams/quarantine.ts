import type {
  DefinitionChange,
  QuarantineDecision,
  QuarantinedTool,
  QuarantineListResponse,
} from '../../../../../api/schemas/registry/quarantine.ts';
import { usageError } from '../../input/usage-error.ts';
import type { AddOperation } from '../../operation/operation-command.ts';
import type { Printer } from '../../output/printer.ts';
import { printRegistrations } from '../../output/registrations.ts';

/** Subject and manner of a decision: one tool, or all tools of an upstream. */
const DECISION = {
  args: ['name', 'tool'],
  members: {
    all: { help: 'every tool of it that waits' },
    content_hash: { flags: '--hash <hash>', help: 'only if this definition is still what is served' },
  },
  input: (given: QuarantineDecision): QuarantineDecision => {
    if ((given.tool === undefined) === (given.all === undefined)) throw usageError('Name one tool, or give --all.');
    return given;
  },
} as const;

/** `upstreams quarantine|accept|reject`. */
export function addQuarantineCommands(operation: AddOperation): void {
  operation('upstreams.quarantine', {
    command: 'quarantine',
    help: 'show the tools that wait for you, with what their server changed',
    args: ['name', 'tool'],
    members: { page: false },
    print: printQuarantined,
  });
  operation('upstreams.accept', {
    ...DECISION,
    command: 'accept',
    help: 'accept what a server serves now, as a new version',
    succeeded: ({ registrations }) => registrations.every(({ outcome }) => outcome !== 'refused'),
    print: ({ registrations, left_out }, print) => {
      if (registrations.length > 0) printRegistrations(print, registrations);
      else print.line('Nothing was accepted.');
      if (left_out.length > 0)
        print.note(`left out, since something in them is suspicious: ${left_out.join(', ')}. Name each to accept it.`);
    },
  });
  operation('upstreams.reject', {
    ...DECISION,
    command: 'reject',
    help: 'refuse what a server serves now',
    print: ({ rejected }, print) => {
      if (rejected.length === 0) print.line('Nothing was rejected.');
      for (const toolId of rejected) print.line(`rejected ${toolId}`);
    },
  });
}

function printQuarantined({ quarantined: tools, pagination }: QuarantineListResponse, print: Printer): void {
  if (tools.length === 0) print.line('Nothing waits in quarantine.');
  for (const [index, tool] of tools.entries()) {
    if (index > 0) print.line('');
    printTool(tool, print);
  }
  const more = pagination.total_count - tools.length;
  if (more > 0) print.note(`${more} more; name an upstream to see fewer.`);
}

const WHY: Readonly<Record<QuarantinedTool['reason'], string>> = {
  changed: 'its server changed it',
  flagged: 'its description may hold hidden instructions',
  new: 'its server added it later',
  rejected: 'you rejected what is served',
};

function printTool(tool: QuarantinedTool, print: Printer): void {
  const { tool_id, reason, accepted_version, findings, changes, changes_left_out, upstream, breaking } = tool;
  const version = accepted_version === undefined ? '' : ` (accepted: ${accepted_version})`;
  print.line(`${tool_id}: ${WHY[reason]}${version}`, 'strong');
  print.line(`  noticed ${tool.noticed_at}, hash ${tool.content_hash.slice(0, 16)}…`, 'dim');
  for (const { kind, path, excerpt } of findings) print.line(`  ! ${kind} at ${path}: ${excerpt}`, 'bad');
  if (breaking)
    print.line('  Breaks its callers: calls that were good may fail, or results take another form.', 'warning');
  for (const change of changes) printChange(change, print);
  if (changes_left_out > 0) print.line(`  … and ${changes_left_out} more changes`, 'dim');
  if (reason === 'changed' && changes.length === 0) print.line('  Only in members that the layer does not use.', 'dim');
  if (reason !== 'rejected') print.line(`  sallyport upstreams accept ${upstream} ${tool_id}`, 'dim');
}

function printChange({ path, kind, before, after }: DefinitionChange, print: Printer): void {
  print.line(`  ${path === '' ? '(whole)' : path} ${kind}`);
  for (const line of linesOf(before)) print.line(`  - ${line}`, 'bad');
  for (const line of linesOf(after)) print.line(`  + ${line}`, 'good');
}

/** Texts as lines, everything else as JSON. */
function linesOf(json: string | undefined): readonly string[] {
  if (json === undefined) return [];
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value.split('\n') : [json];
  } catch {
    return [json];
  }
}
