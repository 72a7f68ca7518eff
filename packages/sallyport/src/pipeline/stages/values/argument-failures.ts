import type { Threat, ValueFinding } from '@sallyport/guards';
import type { ErrorCode } from '@sallyport/std/error/catalogue';
import { type Failure, failure } from '@sallyport/std/error/failure';
import type { Fault } from '../../../../api/schemas/error.ts';

/** Faults that the message names; the details hold all of them. */
const NAMED_MAX = 3;
/** Findings in details. */
const FINDINGS_MAX = 20;
/** Characters of one fault in the message; a fault quotes names and patterns from untrusted text. */
const FAULT_LENGTH_MAX = 240;

/**
 * Refuses arguments that do not fit: E3502 when only conversions failed, E3801 for what no argument may hold, else
 * E3509.
 */
export function argumentsRefused(faults: readonly Fault[]): Failure {
  const [first] = faults;
  const code =
    first !== undefined && faults.every((one) => one.code === first.code) ? CODES.get(first.code) : undefined;
  const places = faults.length === 1 ? 'One argument has a fault' : `${faults.length} faults in the arguments`;
  const more = faults.length > NAMED_MAX ? `; and ${faults.length - NAMED_MAX} more` : '';
  return failure(code ?? 'E3509', `${places}: ${faults.slice(0, NAMED_MAX).map(inWords).join('; ')}${more}`, {
    details: { faults },
  });
}

const CODES: ReadonlyMap<string, ErrorCode> = new Map([
  ['E3502', 'E3502'],
  ['E3801', 'E3801'],
]);

function inWords({ path, message, hint }: Fault): string {
  const words = `${path === '' ? 'the arguments' : path} ${message}${hint === undefined ? '' : ` (${hint})`}`;
  return words.length <= FAULT_LENGTH_MAX ? words : `${words.slice(0, FAULT_LENGTH_MAX)}…`;
}

/** The code of each threat. */
const THREATS: Readonly<Record<Threat, readonly [ErrorCode, string]>> = {
  sql_injection: ['E3503', 'an SQL injection'],
  xss: ['E3504', 'cross-site scripting'],
  command_injection: ['E3505', 'a command injection'],
};

/**
 * Refuses a value that looks like an attack. The value stays out of the message, which may come back to the model.
 * @param worst the finding that is named and decides the code
 */
export function attackRefused(
  findings: readonly ValueFinding[],
  worst: ValueFinding | undefined,
  whose: 'arguments' | 'result',
): Failure {
  const [code, what] = THREATS[worst?.threat ?? 'command_injection'];
  const place = `${whose === 'result' ? 'The result' : 'The argument'} ${worst?.path === '' ? '' : `at ${worst?.path} `}`;
  const hint =
    whose === 'result'
      ? 'Tell the owner of the tool.'
      : 'Give a plain value; the owner of a tool that takes such text says so with argument_content in its manifest.';
  return failure(code, `${place}looks like ${what} (rule ${worst?.rule}). ${hint}`, {
    details: { findings: shownFindings(findings) },
  });
}

/** Findings as they may be shown: places and rules, never the text. */
export function shownFindings(findings: readonly ValueFinding[]): readonly Record<string, unknown>[] {
  return findings
    .slice(0, FINDINGS_MAX)
    .map(({ threat, rule, path, action, start, end }) => ({ threat, rule, path, action, start, end }));
}
