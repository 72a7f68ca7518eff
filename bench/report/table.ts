import { baselineValue } from './baseline.ts';
import type { Figure, Report } from './figure.ts';

type Row = readonly string[];

const HEAD: Row = ['figure', 'value', 'unit', 'target', 'holds', 'baseline', 'peer', "peer's value"];
const NUMBERS = new Set([1, 5, 7]);

/** The report for people: a line about the machine, then a table. A figure with several peers is named once. */
export function reportTable(report: Report, baseline?: Report): string {
  const { average_1m, cpus } = report.load;
  const machine = `${report.bench}: Node ${report.node}, ${cpus} CPUs, load before the run ${average_1m}`;
  const rows = report.figures.map((figure, index) => rowOf(figure, report.figures[index - 1], baseline));
  return [machine, '', ...aligned([HEAD, ...rows])].join('\n');
}

function rowOf(figure: Figure, above: Figure | undefined, baseline: Report | undefined): Row {
  const again = above?.figure === figure.figure;
  const before = baselineValue(baseline, figure);
  return [
    again ? '' : figure.figure,
    again ? '' : number(figure.value),
    again ? '' : figure.unit,
    figure.target ?? '',
    figure.holds === null ? '' : figure.holds ? 'yes' : 'NO',
    again || before === undefined ? '' : number(before),
    figure.peer ?? '',
    figure.peer === undefined ? '' : number(figure.peer_value ?? null),
  ];
}

function number(value: number | null): string {
  return value === null ? '-' : String(value);
}

/** Columns as wide as their widest cell; the last ones stay away when they are empty in all rows. */
function aligned(rows: readonly Row[]): string[] {
  const used = HEAD.map((_, column) => rows.slice(1).some((row) => row[column] !== ''));
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        NUMBERS.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .filter((_, column) => used[column])
      .join('  ')
      .trimEnd(),
  );
}
