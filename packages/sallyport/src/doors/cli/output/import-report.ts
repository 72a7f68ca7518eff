import type { ImportedTool, ImportReport } from '../../../../api/schemas/imports.ts';
import type { Printer } from './printer.ts';
import { printRegistrations } from './registrations.ts';

/** Most changes shown per tool; `--json` has all. */
const CHANGES_SHOWN = 10;
/** With more tools than this, rows of unchanged tools are left out. */
const UNCHANGED_SHOWN_MAX = 20;

/** Prints the result of an import: a row per tool, the changes of changed tools, and a summary line. */
export function printImport(report: ImportReport, print: Printer): void {
  const { registrations, skipped, missing } = report;
  const quiet = registrations.length > UNCHANGED_SHOWN_MAX;
  const shown = quiet ? registrations.filter(({ outcome }) => outcome !== 'unchanged') : registrations;
  printRegistrations(print, shown);
  for (const tool of registrations) printChanges(print, tool);
  for (const { place, reason } of skipped) print.note(`left out ${place}: ${reason}`);
  if (missing.length > 0) print.note(`no longer there, but still registered: ${missing.join(', ')}`);
  print.line(summaryOf(report));
  const mendable = registrations.some(({ outcome, changes }) => outcome === 'refused' && changes !== undefined);
  if (mendable) print.note('Add --bump to register what changed under the next version.');
}

/** `created 12, unchanged 40, refused 1`. */
function summaryOf({ registrations, skipped, missing, dry_run }: ImportReport): string {
  const count = (outcome: ImportedTool['outcome']): number =>
    registrations.filter((tool) => tool.outcome === outcome).length;
  const counts = [`created ${count('created')}`, `unchanged ${count('unchanged')}`, `refused ${count('refused')}`];
  if (skipped.length > 0) counts.push(`left out ${skipped.length}`);
  if (missing.length > 0) counts.push(`missing ${missing.length}`);
  return `${dry_run ? 'Nothing was written. It would be: ' : ''}${counts.join(', ')}`;
}

function printChanges(print: Printer, { tool_id, changes = [] }: ImportedTool): void {
  if (changes.length === 0) return;
  print.line(`${tool_id}:`, 'strong');
  for (const { severity, path, message } of changes.slice(0, CHANGES_SHOWN)) {
    print.line(`  ${severity} ${path}: ${message}`, severity === 'breaking' ? 'bad' : 'dim');
  }
  if (changes.length > CHANGES_SHOWN) print.line(`  and ${changes.length - CHANGES_SHOWN} more; see --json`, 'dim');
}
