import { errorBody, type Failure, failure } from '@sallyport/std/error/failure';
import { hiddenEscaped, hiddenShown } from '@sallyport/std/text/hidden-characters';
import type { Fault, ToolErrorBody } from '../../../../api/schemas/error.ts';
import type { CliIo } from '../cli-parts.ts';
import { createPaint, type Paint } from './paint.ts';
import { tableLines } from './table.ts';

/**
 * Prints for people, or for programs with `--json`: all output of the commands. Hidden characters in text of tools,
 * upstreams and other outsiders are shown as `\u{…}`, in JSON as escapes.
 */
export interface Printer {
  readonly json: boolean;
  /** A line of the answer, in the given colour. Foreign text cannot start a new line: further lines are indented. */
  line(text: string, style?: keyof Paint): void;
  /** Text of a tool or a person, complete and with its own line breaks. */
  text(text: string): void;
  /** Name and value per line, aligned. Absent and empty values are left out. */
  facts(facts: readonly (readonly [string, string | undefined])[]): void;
  /** The answer as JSON. */
  value(value: unknown): void;
  /** One of several answers as JSON, on one line. */
  valueLine(value: unknown): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** A remark that is not part of the answer. */
  note(text: string): void;
  /** A failure: code, place and what to change. */
  failure(failed: Failure): void;
  /** A usage error of the command itself. */
  usage(message: string): void;
}

export function createPrinter(io: CliIo, json: boolean): Printer {
  const plain = io.env['NO_COLOR'] !== undefined && io.env['NO_COLOR'] !== '';
  const isTerminal = io.stdout.isTTY === true;
  const paint = createPaint(isTerminal && !plain);
  const warn = createPaint(io.stderr.isTTY === true && !plain);
  const text = (said: string): void => void io.stdout.write(`${hiddenShown(said)}\n`);
  const line: Printer['line'] = (said, style) => {
    const shown = indented(said, CONTINUED);
    io.stdout.write(`${style === undefined ? shown : paint[style](shown)}\n`);
  };
  const value = (given: unknown, indent?: number): void => void io.stdout.write(`${jsonText(given, indent)}\n`);
  const err = (said: string): void => void io.stderr.write(`${said}\n`);
  const errJson = (failed: Failure): void => err(jsonText({ error: errorBody(failed) }));
  return {
    json,
    line,
    text,
    facts: (facts) => {
      const label = Math.max(...facts.map(([name]) => name.length)) + 1;
      for (const [name, said = ''] of facts)
        if (said !== '') text(`  ${name.padEnd(label)} ${indented(said, ' '.repeat(label + CONTINUED.length))}`);
    },
    value: (given) => value(given, isTerminal ? 2 : undefined),
    valueLine: value,
    table: (head, rows) => {
      // Escaped before colouring, so that the colour codes stay.
      const cells = rows.map((row) => row.map(hiddenShown));
      const width = isTerminal ? io.stdout.columns : undefined;
      const [first = '', ...lines] = tableLines(head, cells, width, (said, style) => paint[style](said));
      line(first, 'strong');
      for (const each of lines) io.stdout.write(`${each}\n`);
    },
    note: (said) => err(warn.warning(indented(said, CONTINUED))),
    failure: (failed) => {
      if (json) errJson(failed);
      else for (const each of failureLines(failed, warn)) err(each);
    },
    usage: (message) => {
      if (json) errJson(failure('E3801', message));
      else err(`${warn.bad('error:')} ${indented(message, CONTINUED)}`);
    },
  };
}

/** Indent of the further lines of a text. */
const CONTINUED = '    ';
const indented = (said: string, by: string): string => hiddenShown(said).replaceAll('\n', `\n${by}`);
const jsonText = (value: unknown, indent?: number): string =>
  hiddenEscaped(JSON.stringify(value, null, indent) ?? 'null');

/** Most lines and characters shown from the end of a failed program's standard error. */
const STDERR_LINES_MAX = 20;
const STDERR_LENGTH_MAX = 4_000;

/** The message with its code, then each fault with its place, then the end of the failed program's standard error. */
export function failureLines(failed: Failure, paint: Paint): string[] {
  const { code, e_code, message, details, retry_after_ms } = errorBody(failed);
  const given: readonly unknown[] = Array.isArray(details?.['faults']) ? details['faults'] : [];
  // Faults of settings are plain sentences that the message already contains.
  const faults = given.filter((fault): fault is Partial<Fault> => typeof fault === 'object' && fault !== null);
  return [
    `${paint.bad(`${e_code} ${code}:`)} ${indented(message, CONTINUED)}`,
    ...faults.map(({ path, message: what, hint }) => {
      const place = path === undefined || path === '' ? '(whole)' : path;
      return indented(`  ${place}: ${what ?? ''}${hint === undefined ? '' : ` (${hint})`}`, CONTINUED);
    }),
    ...stderrLines(details),
    ...(retry_after_ms === undefined ? [] : [`  It may work again in ${Math.ceil(retry_after_ms / 1000)} s.`]),
  ];
}

/** Standard error of a shell tool or a skill's script; `--json` has all of it in `details.envelope`. */
function stderrLines(details: ToolErrorBody['details']): string[] {
  const envelope = details?.['envelope'] as { readonly stderr?: unknown } | null | undefined;
  const said = typeof envelope?.stderr === 'string' ? envelope.stderr.trimEnd() : '';
  if (said === '') return [];
  const lines = said.slice(-STDERR_LENGTH_MAX).split('\n').slice(-STDERR_LINES_MAX);
  const isWhole = lines.join('\n') === said;
  const shown = indented(lines.join('\n'), CONTINUED);
  return [`  On its standard error it wrote${isWhole ? '' : ', at the end'}:`, `${CONTINUED}${shown}`];
}
