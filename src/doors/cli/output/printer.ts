import type { Fault } from '../../../../api/schemas/error.ts';
import { errorBody, type Failure, failure } from '../../../domain/error/failure.ts';
import type { CliIo } from '../cli-parts.ts';
import { createPaint, harmless, jsonText, type Paint } from './paint.ts';
import { tableLines } from './table.ts';

/** Says things to people, or to programs with `--json`. */
export interface Printer {
  readonly json: boolean;
  /** A line of the answer, cleaned of control characters and in the colour given. */
  line(text: string, style?: keyof Paint): void;
  /** The answer as JSON. */
  value(value: unknown): void;
  /** One of many answers as JSON, on one line. */
  valueLine(value: unknown): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** A remark beside the answer. */
  note(text: string): void;
  /** What was wrong, with code, place and what to change. */
  failure(failed: Failure): void;
  /** A wrong use of the command itself. */
  usage(message: string): void;
}

export function createPrinter(io: CliIo, json: boolean): Printer {
  const plain = io.env['NO_COLOR'] !== undefined && io.env['NO_COLOR'] !== '';
  const paint = createPaint(io.stdout.isTTY === true && !plain);
  const warn = createPaint(io.stderr.isTTY === true && !plain);
  const out = (text: string, style?: keyof Paint): void => {
    const clean = harmless(text);
    io.stdout.write(`${style === undefined ? clean : paint[style](clean)}\n`);
  };
  const err = (text: string): void => void io.stderr.write(`${text}\n`);
  return {
    json,
    line: out,
    value: (value) => out(jsonText(value, io.stdout.isTTY === true ? 2 : undefined)),
    valueLine: (value) => out(jsonText(value)),
    table: (head, rows) => {
      // Cleaned before they are coloured, so that the colours stay.
      const cells = rows.map((row) => row.map(harmless));
      const width = io.stdout.isTTY === true ? io.stdout.columns : undefined;
      const [first = '', ...lines] = tableLines(head, cells, width, (text, style) => paint[style](text));
      out(first, 'strong');
      for (const line of lines) io.stdout.write(`${line}\n`);
    },
    note: (text) => err(warn.warning(harmless(text))),
    failure: (failed) => {
      if (json) err(jsonText({ error: errorBody(failed) }));
      else for (const line of failureLines(failed, warn)) err(line);
    },
    usage: (message) => {
      if (json) err(jsonText({ error: errorBody(failure('E3801', message)) }));
      else err(`${warn.bad('error:')} ${harmless(message)}`);
    },
  };
}

/** The message with its code, then each fault with its place. */
export function failureLines(failed: Failure, paint: Paint): string[] {
  const { code, e_code, message, details, retry_after_ms } = errorBody(failed);
  const faults = Array.isArray(details?.['faults']) ? (details['faults'] as readonly Partial<Fault>[]) : [];
  return [
    `${paint.bad(`${e_code} ${code}:`)} ${harmless(message)}`,
    ...faults.map(({ path, message: what, hint }) => {
      const place = path === undefined || path === '' ? '(whole)' : path;
      return harmless(`  ${place}: ${what ?? ''}${hint === undefined ? '' : ` (${hint})`}`);
    }),
    ...(retry_after_ms === undefined ? [] : [`  It may work again in ${Math.ceil(retry_after_ms / 1000)} s.`]),
  ];
}
