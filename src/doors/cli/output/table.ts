/** Space between two columns. */
const GAP = '  ';
/** The last column is never cut below this. */
const LAST_COLUMN_MIN = 20;

/**
 * Lines of a table whose columns stand under each other. Cells are made one line; the last column is cut to fit.
 * @param width characters to fit in; undefined for no bound
 */
export function tableLines(head: readonly string[], rows: readonly (readonly string[])[], width?: number): string[] {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? '')].length)));
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  const lastMax = width === undefined ? Number.POSITIVE_INFINITY : Math.max(LAST_COLUMN_MIN, width - before);
  return cells.map((row) =>
    row
      .map((cell, column) => (column === head.length - 1 ? cut(cell, lastMax) : padded(cell, widths[column] ?? 0)))
      .join(GAP)
      .trimEnd(),
  );
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - [...cell].length);
}

function cut(cell: string, max: number): string {
  const characters = [...cell];
  return characters.length <= max ? cell : `${characters.slice(0, max - 1).join('')}…`;
}
