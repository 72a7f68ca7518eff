import {
  createRedactor,
  DEFAULT_REDACTION_KINDS,
  REDACTION_KINDS,
  type RedactionFinding,
  type RedactionKind,
} from '@sallyport/guards';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { collect } from '../../input/option-values.ts';
import { readSource } from '../../input/read-source.ts';
import { usageError } from '../../input/usage-error.ts';
import type { Printer } from '../../output/printer.ts';

interface SecretsOptions {
  readonly kind?: readonly string[];
  readonly field?: readonly string[];
  readonly redact?: boolean;
}

/**
 * `check secrets`: finds personal data and secrets in a text or JSON document on standard input; exit code 1 when there
 * are any.
 */
export function addSecretsCheck(check: Command, kit: CommandKit): void {
  const secrets = check
    .command('secrets')
    .description('find personal data and secrets in standard input, a text or a JSON document')
    .option('--kind <kind>', `look only for this; several times: ${REDACTION_KINDS.join(', ')}`, collect)
    .option('--field <name>', 'treat the values of these fields of a document as secret; several times', collect)
    .option('--redact', 'print the input without them instead of the places');
  kit.action<SecretsOptions>(secrets, async (_args, options, print) => {
    const kinds = options.kind?.map(kindOf) ?? DEFAULT_REDACTION_KINDS;
    const redactor = createRedactor({ kinds, fields: options.field ?? [] });
    const { value, findings } = redactor.value(asValue(await readSource('-', kit.parts.io)));
    if (print.json) print.value({ clean: findings.length === 0, findings, redacted: value });
    else if (options.redact === true) print.text(typeof value === 'string' ? value : JSON.stringify(value));
    else printFindings(findings, print);
    return findings.length === 0 ? EXIT.ok : EXIT.refused;
  });
}

function kindOf(text: string): RedactionKind {
  const kind = REDACTION_KINDS.find((each) => each === text);
  if (kind === undefined) throw usageError(`There is no kind ${text}. Choose among ${REDACTION_KINDS.join(', ')}.`);
  return kind;
}

/** The parsed JSON document, or the text unchanged when it is not JSON. */
function asValue(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Prints the places of the findings, never the values found there. */
function printFindings(findings: readonly RedactionFinding[], print: Printer): void {
  if (findings.length === 0) {
    print.line('nothing found', 'good');
    return;
  }
  const rows = findings.map(({ kind, rule, path, start, end }) => [kind, rule, path, `${start}-${end}`]);
  print.table(['KIND', 'RULE', 'FIELD', 'CHARACTERS'], rows);
}
