import { type SanitiseAction, THREATS, type Threat, type ValueFinding } from '@sallyport/guards';
import { type Failure, isFailure } from '@sallyport/std/error/failure';
import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ArgumentContent, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { traitsOf } from '../../../domain/tool/executor-kinds.ts';
import { argumentContent, type ContentAt } from '../../../validation/argument-content.ts';
import type { CompiledSchema } from '../../../validation/schema-validator.ts';
import { argumentsRefused, attackRefused, shownFindings } from './argument-failures.ts';
import type { ValueRules } from './value-rules.ts';

type Parameters = Readonly<Record<string, unknown>>;
type Treatment = SanitiseAction | 'ignore' | undefined;

/** Arguments that passed, and their findings. */
export interface SafeArguments {
  readonly parameters: Parameters;
  /** Threats that were found, in the order of {@link THREATS}; empty for most calls. */
  readonly findings: readonly Threat[];
}

const NOTHING_FOUND: readonly Threat[] = [];

/** What is done about each threat at a place; undefined: the action that the settings name. */
const TREATMENTS: Readonly<Record<ArgumentContent, Readonly<Partial<Record<Threat, Treatment>>>>> = {
  fragment: {},
  page: { xss: 'escape' },
  text: { sql_injection: 'mark', xss: 'mark', command_injection: 'mark' },
  sql: { sql_injection: 'ignore', xss: 'mark', command_injection: 'mark' },
  html: { sql_injection: 'mark', xss: 'ignore', command_injection: 'mark' },
  command: { sql_injection: 'mark', xss: 'mark', command_injection: 'ignore' },
  code: { sql_injection: 'ignore', xss: 'ignore', command_injection: 'ignore' },
  raw: { sql_injection: 'ignore', xss: 'ignore', command_injection: 'ignore' },
};

/** What the arguments of a tool hold, cached as long as the manifest lives. */
const contents = new WeakMap<ToolManifest, ContentAt>();

/** What the arguments of a tool hold; computed only when something was found. */
function contentOf(manifest: ToolManifest): ContentAt {
  const known = contents.get(manifest);
  if (known !== undefined) return known;
  const { parameters_schema, execution_config, executor } = manifest;
  const said = execution_config?.argument_content;
  // The schema of a carrier is untrusted: it cannot keep findings from policies, and has no argument changed.
  const content = traitsOf(executor.kind).carriesArguments
    ? argumentContent({}, said, 'text')
    : argumentContent(parameters_schema, said);
  contents.set(manifest, content);
  return content;
}

/** True when the text at a place reaches the tool unchanged. */
export function isCarried(manifest: ToolManifest, path: string): boolean {
  const content = contentOf(manifest)(path);
  return content !== 'fragment' && content !== 'page';
}

/**
 * Handles attacks in arguments (VAL-04): refused where they become part of something that is run, passed on unchanged
 * and marked where they are content. What the owner of the tool or the operator has changed is named in a warning, and
 * checked against the schema again.
 * @param warnings receives the warnings; that of a change also when the changed arguments are refused
 */
export function sanitiseArguments(
  { argumentSanitiser, judgeContent }: Pick<ValueRules, 'argumentSanitiser' | 'judgeContent'>,
  schema: CompiledSchema,
  manifest: ToolManifest,
  parameters: Parameters,
  warnings: Warning[],
): SafeArguments | Failure {
  if (argumentSanitiser === undefined) return { parameters, findings: NOTHING_FOUND };
  const actionAt = (path: string, threat: Threat): Treatment => {
    const action = TREATMENTS[contentOf(manifest)(path)][threat];
    return action === 'mark' && judgeContent ? undefined : action;
  };
  const { value, findings, rejected } = argumentSanitiser.check(parameters, { actionAt });
  if (findings.length === 0) return { parameters, findings: NOTHING_FOUND };
  if (rejected !== undefined) return attackRefused(findings, rejected, 'arguments');
  const changed = findings.filter(({ action }) => action !== 'mark');
  const refused = changed.length === 0 ? undefined : changedArguments(schema, value, changed, warnings);
  if (isFailure(refused)) return refused;
  warnMarked(
    findings.filter(({ action }) => action === 'mark'),
    warnings,
  );
  return {
    parameters: value as Parameters,
    findings: THREATS.filter((threat) => findings.some((each) => each.threat === threat)),
  };
}

function changedArguments(
  schema: CompiledSchema,
  value: unknown,
  findings: readonly ValueFinding[],
  warnings: Warning[],
): Failure | undefined {
  warnings.push({
    code: 'arguments_sanitised',
    message: `${placesOf(findings)} in the arguments looked like an attack and was made harmless.`,
    details: { findings: shownFindings(findings) },
  });
  const { faults } = schema.check(value, { coerce: false });
  if (faults.length === 0) return undefined;
  const refused = attackRefused(findings, findings[0], 'arguments');
  return { ...refused, details: { ...refused.details, faults: argumentsRefused(faults).details?.['faults'] } };
}

function warnMarked(findings: readonly ValueFinding[], warnings: Warning[]): void {
  if (findings.length === 0) return;
  warnings.push({
    code: 'arguments_marked',
    message: `${placesOf(findings)} in the arguments looked like an attack. The tool got the arguments as they were given.`,
    details: { findings: shownFindings(findings.filter(isFirstOfItsPlace)) },
  });
}

/** Content may hold hundreds of findings; the first of each threat says what the place looks like. */
const isFirstOfItsPlace = (one: ValueFinding, at: number, all: readonly ValueFinding[]): boolean =>
  all.findIndex(({ path, threat }) => path === one.path && threat === one.threat) === at;

function placesOf(findings: readonly ValueFinding[]): string {
  const count = new Set(findings.map(({ path }) => path)).size;
  return count === 1 ? 'One place' : `${count} places`;
}
