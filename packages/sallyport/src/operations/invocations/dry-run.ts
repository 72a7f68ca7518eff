import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';

/** Says what would become of a call, and why; nothing is run or taken (PIPE-15). */
export function dryRun({ rehearseCall }: Pick<OperationParts, 'rehearseCall'>): Run<'tool.dry_run'> {
  return (request, { caller }) => rehearseCall({ request, caller });
}
