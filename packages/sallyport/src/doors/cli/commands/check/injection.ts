import { createSanitiser, type SanitiseProfile, type ValueFinding } from '@sallyport/guards';
import type { Command } from 'commander';
import { EXIT } from '../../cli-parts.ts';
import type { CommandKit } from '../../command-kit.ts';
import { oneOf } from '../../input/option-values.ts';
import { readSource } from '../../input/read-source.ts';

/** Most characters shown of a finding. */
const SHOWN_MAX = 60;
const EVERYTHING = { sql_injection: 'reject', xss: 'reject', command_injection: 'reject' } as const;

/** `check injection`. */
export function addCheckInjection(check: Command, kit: CommandKit): void {
  const injection = check
    .command('injection')
    .description('look for SQL injection, cross-site scripting and command injection')
    .option('--profile <profile>', 'default, which judges by context, or strict', oneOf(['default', 'strict']));
  kit.action<{ profile?: SanitiseProfile }>(injection, async (_args, { profile = 'default' }, print) => {
    const value = readValue(await readSource('-', kit.parts.io));
    const { findings } = createSanitiser({ profile, actions: EVERYTHING }).check(value);
    const shown = findings.map((finding) => ({ ...withoutAction(finding), text: textOf(value, finding) }));
    if (print.json) print.value({ clean: shown.length === 0, findings: shown });
    else if (shown.length === 0) print.note('Nothing found.');
    else {
      const rows = shown.map(({ threat, rule, path, start, text }) => [threat, rule, path, String(start), text]);
      print.table(['THREAT', 'RULE', 'PATH', 'AT', 'TEXT'], rows);
    }
    return shown.length === 0 ? EXIT.ok : EXIT.refused;
  });
}

/** Parses JSON objects and lists; any other text is returned unchanged. */
function readValue(source: string): unknown {
  if (!/^\s*[[{]/.test(source)) return source;
  try {
    return JSON.parse(source);
  } catch {
    return source;
  }
}

function withoutAction({ action: _, ...finding }: ValueFinding): Omit<ValueFinding, 'action'> {
  return finding;
}

/** One line for a finding; its place may contain the name of a member. */
function textOf(value: unknown, { path, start, end }: ValueFinding): string {
  const segments = path
    .split('/')
    .slice(1)
    .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = segments.reduce<unknown>(
    (at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name],
    value,
  );
  const text = typeof found === 'string' ? found : (segments.at(-1) ?? '');
  return text.slice(start, Math.min(end, start + SHOWN_MAX)).replaceAll(/\s/g, ' ');
}
