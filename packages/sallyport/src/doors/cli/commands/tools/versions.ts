import type { Command } from 'commander';
import type { ToolDiffResponse } from '../../../../../api/schemas/registry/tool-comparison.ts';
import type { ComplianceReport, ManifestCheckResponse } from '../../../../../api/schemas/registry/tool-lifecycle.ts';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit, CommandWork } from '../../command-kit.ts';
import { readManifests } from '../../input/read-json.ts';
import { HISTORY_HEAD, historyRow } from '../../output/history.ts';
import type { Printer } from '../../output/printer.ts';

/** `tools history|diff|check|compliance`. */
export function addToolsVersionCommands(tools: Command, kit: CommandKit): void {
  const history = tools
    .command('history')
    .description('every version of a tool, with its state, its dates and who moved it')
    .argument('<tool>', 'id of the tool');
  kit.asking(history, async ({ layer, caller, print }, [tool]) => {
    const answer = await layer.ask('tools.history', { tool_id: String(tool) }, caller);
    if (print.json) print.value(answer);
    else print.table(HISTORY_HEAD, answer.versions.map(historyRow));
    return EXIT.ok;
  });

  const diff = tools
    .command('diff')
    .description('what changed between two versions, and whether it breaks callers')
    .argument('<tool>', 'id of the tool')
    .argument('<from>', 'version or SemVer range')
    .argument('[to]', 'version or SemVer range; the newest when absent');
  kit.asking(diff, async ({ layer, caller, print }, [tool, from, to]) => {
    const input = { tool_id: String(tool), from: String(from), ...(to === undefined ? {} : { to: String(to) }) };
    showDiff(await layer.ask('tools.diff', input, caller), print);
    return EXIT.ok;
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

  const compliance = tools
    .command('compliance')
    .description('what the schemas of a registered tool lack')
    .argument('<tool>', 'id of the tool')
    .option('--version <range>', 'version or SemVer range');
  kit.asking<{ version?: string }>(compliance, async ({ layer, caller, print }, [tool], { version }) => {
    const input = { tool_id: String(tool), ...(version === undefined ? {} : { version }) };
    const answer = await layer.ask('tools.compliance', input, caller);
    if (print.json) print.value(answer);
    else showCompliance(`${answer.tool_id} ${answer.version}`, answer.compliance, print);
    return EXIT.ok;
  });
}

function showDiff(answer: ToolDiffResponse, print: Printer): void {
  if (print.json) {
    print.value(answer);
    return;
  }
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
