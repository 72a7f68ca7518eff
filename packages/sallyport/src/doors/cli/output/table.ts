import type { Paint } from './paint.ts';

/** Space between two columns. */
const GAP = '  ';
/** Least width of the last column, in characters. */
const LAST_COLUMN_MIN = 20;

/** Columns whose words are coloured. */
const COLOURED_HEADS = new Set(['STATE', 'OUTCOME', 'SEVERITY']);
const STYLES: Readonly<Record<string, keyof Paint>> = {
  active: 'good',
  created: 'good',
  compatible: 'dim',
  unchanged: 'dim',
  deprecated: 'warning',
  notable: 'warning',
  sunset: 'warning',
  removed: 'bad',
  refused: 'bad',
  breaking: 'bad',
};

/** The colour of a cell: for known words in coloured columns. */
export function cellStyle(head: string, cell: string): keyof Paint | undefined {
  return COLOURED_HEADS.has(head) && Object.hasOwn(STYLES, cell) ? STYLES[cell] : undefined;
}

/**
 * Lines of a table with aligned columns. Each cell becomes one line; the last column is cut to fit.
 * @param width characters available; undefined for no limit
 * @param paint colours a cell after padding
 */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width?: number,
  paint: (text: string, style: keyof Paint) => string = (text) => text,
): string[] {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? '')].length)));
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  const lastMax = width === undefined ? Number.POSITIVE_INFINITY : Math.max(LAST_COLUMN_MIN, width - before);
  return cells.map((row, at) => {
    const fitted = row.map((cell, column) =>
      column === head.length - 1 ? cut(cell, lastMax) : padded(cell, widths[column] ?? 0),
    );
    const last = fitted.findLastIndex((cell) => cell.trim() !== '');
    return fitted
      .slice(0, last + 1)
      .map((cell, column) => (column === last ? cell.trimEnd() : cell))
      .map((cell, column) => {
        const style = at === 0 ? undefined : cellStyle(head[column] ?? '', cell.trimEnd());
        return style === undefined ? cell : paint(cell.trimEnd(), style) + cell.slice(cell.trimEnd().length);
      })
      .join(GAP);
  });
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - [...cell].length);
}

function cut(cell: string, max: number): string {
  const characters = [...cell];
  return characters.length <= max ? cell : `${characters.slice(0, max - 1).join('')}…`;
}
