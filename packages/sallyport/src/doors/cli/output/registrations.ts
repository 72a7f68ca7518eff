import type { Registration } from '../../../../api/schemas/registry.ts';
import type { Printer } from './printer.ts';

/** The cells of a registration's row, before the remarks that several rows share. */
interface Row extends Pick<Registration, 'outcome' | 'tool_id' | 'version' | 'warnings'> {
  readonly error?: Readonly<Record<string, unknown>> | undefined;
  readonly replaces?: string | undefined;
}

/** Prints registrations as a table. A remark that several tools share is printed once, under the table. */
export function printRegistrations(print: Printer, registrations: readonly Row[]): void {
  if (registrations.length === 0) return;
  const counts = new Map<string, number>();
  for (const { warnings } of registrations) {
    for (const { message } of warnings) counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  const isShared = (message: string): boolean => (counts.get(message) ?? 0) > 1;
  const rows = registrations.map((row) => [row.outcome, row.tool_id, row.version, remarksOf(row, isShared).join('; ')]);
  print.table(['OUTCOME', 'TOOL', 'VERSION', 'REMARKS'], rows);
  for (const [message, count] of counts) if (count > 1) print.note(`${count} of these tools: ${message}`);
}

function remarksOf({ replaces, error, warnings }: Row, isShared: (message: string) => boolean): string[] {
  const refused = typeof error?.['message'] === 'string' ? [error['message']] : [];
  const after = replaces === undefined ? [] : [`after ${replaces}`];
  const own = warnings.map(({ message }) => message).filter((message) => !isShared(message));
  return [...after, ...refused, ...own];
}
