import type { Warning } from '../../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Sanitiser } from '../../../detectors/sanitise.ts';
import type { Failure } from '../../../domain/error/failure.ts';
import { type DeclaredContent, declaredContent } from '../../../validation/declared-content.ts';
import type { CompiledSchema } from '../../../validation/schema-validator.ts';
import { argumentsRefused, attackRefused, told } from './argument-failures.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** What owners declare of their arguments, kept as long as the manifest lives. */
const declarations = new WeakMap<ToolManifest, { readonly content: DeclaredContent | undefined }>();

/** What the owner of a tool declares of its arguments; undefined when nothing. */
export function contentOf(manifest: ToolManifest): DeclaredContent | undefined {
  const known = declarations.get(manifest);
  if (known !== undefined) return known.content;
  const content = declaredContent(manifest.parameters_schema, manifest.execution_config?.argument_content);
  declarations.set(manifest, { content });
  return content;
}

/**
 * Arguments without attacks (VAL-04): refused, or redacted and escaped with a warning. What was changed is checked
 * against the schema again.
 */
export function sanitiseArguments(
  sanitiser: Sanitiser,
  schema: CompiledSchema,
  manifest: ToolManifest,
  parameters: Parameters,
  warnings: Warning[],
): Parameters | Failure {
  const { value, findings, rejected } = sanitiser.check(parameters, contentOf(manifest));
  if (findings.length === 0) return parameters;
  if (rejected !== undefined) return attackRefused(findings, rejected, 'arguments');
  const { faults } = schema.check(value, { coerce: false });
  if (faults.length > 0) {
    const refused = attackRefused(findings, findings[0], 'arguments');
    return { ...refused, details: { ...refused.details, faults: argumentsRefused(faults).details?.['faults'] } };
  }
  warnings.push({
    code: 'arguments_sanitised',
    message: `${findings.length === 1 ? 'One place' : `${findings.length} places`} in the arguments looked like an attack and was made harmless.`,
    details: { findings: told(findings) },
  });
  return value as Parameters;
}
