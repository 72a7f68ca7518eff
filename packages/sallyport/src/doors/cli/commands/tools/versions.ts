import type { Command } from 'commander';
import type { ToolDiffResponse } from '../../../../../api/schemas/registry/tool-comparison.ts';
import type { ComplianceReport, ManifestCheckResponse } from '../../../../../api/schemas/registry/tool-lifecycle.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { readManifests } from '../../input/read-json.ts';
import { operationCommands } from '../../operation/operation-command.ts';
import { HISTORY_HEAD, historyRow } from '../../output/history.ts';
import type { Printer } from '../../output/printer.ts';

/** `tools history|diff|check|compliance`. */
export function addToolsVersionCommands(tools: Command, kit: CommandKit): void {
  const operation = operationCommands(tools, kit);
  operation('tools.history', {
    command: 'history',
    print: ({ versions }, print) => print.table(HISTORY_HEAD, versions.map(historyRow)),
  });
  operation('tools.diff', {
    command: 'diff',
    args: ['tool_id', 'from', 'to'],
    members: { to: { help: 'version or SemVer range; the newest when absent' } },
    print: showDiff,
  });
  const check = tools
    .command('check')
    .description('judge manifest files without registering them')
    .argument('<files...>', 'JSON or YAML; one manifest or a list');
  kit.adding(
    check,
    async (work, [files]) => checkFiles(work, files as string[]),
    () => 'borrow',
  );
  operation('tools.compliance', {
    command: 'compliance',
    help: 'what the schemas of a registered tool lack',
    print: ({ tool_id, version, compliance }, print) => showCompliance(`${tool_id} ${version}`, compliance, print),
  });
}

function showDiff(answer: ToolDiffResponse, print: Printer): void {
  const { tool_id, from, to, step, changes } = answer;
  const verdict = answer.breaking ? 'breaks callers' : 'breaks nobody';
  print.line(`${tool_id} ${from} → ${to} (${step}): ${verdict}`, answer.breaking ? 'bad' : 'good');
  for (const { message } of answer.warnings) print.note(message);
  if (answer.needs_review)
    print.note('It asks for more than before, or is held back less: somebody should look at it.');
  if (!answer.complete) print.note('The schemas are too large to be compared whole.');
  const rows = changes.map((change) => [
    change.severity,
    change.needs_review === true ? 'review' : '',
    change.path,
    change.message,
  ]);
  if (rows.length > 0) print.table(['SEVERITY', 'FLAG', 'PATH', 'CHANGE'], rows);
}

async function checkFiles({ layer, caller, print, parts }: CommandWork, files: readonly string[]): Promise<number> {
  const checks: (ManifestCheckResponse & { readonly file: string })[] = [];
  for (const file of files) {
    for (const manifest of await readManifests(file, parts.io)) {
      checks.push({ file, ...(await layer.ask('tools.check', { manifest }, caller)) });
    }
  }
  if (print.json) print.value({ checks });
  else for (const check of checks) showCheck(check, print);
  return checks.every(({ valid }) => valid) ? EXIT.ok : EXIT.refused;
}

function showCheck(
  { file, valid, faults, compliance, warnings }: ManifestCheckResponse & { file: string },
  print: Printer,
): void {
  if (valid && compliance !== undefined) showCompliance(file, compliance, print);
  else print.line(`${file}: could not be registered`, 'bad');
  if (faults.length > 0) {
    const rows = faults.map(({ path, message, hint = '' }) => [path === '' ? '(whole)' : path, message, hint]);
    print.table(['PATH', 'FAULT', 'HINT'], rows);
  }
  for (const { code, message } of warnings) if (code !== 'schema_compliance') print.note(message);
}

function showCompliance(what: string, { score, points, points_met, findings }: ComplianceReport, print: Printer): void {
  print.line(`${what}: ${score} % (${points_met} of ${points} points)`, score === 100 ? 'good' : 'warning');
  if (findings.length > 0)
    print.table(
      ['PATH', 'MISSING'],
      findings.map(({ path, message }) => [path, message]),
    );
}
