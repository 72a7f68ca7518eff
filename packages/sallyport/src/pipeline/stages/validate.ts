import { type Failure, isFailure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { withoutControls } from '../../validation/control-characters.ts';
import type { Admitted, CallRequest, Noted, Resolved, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';
import { argumentsRefused } from './values/argument-failures.ts';
import { isCarried, sanitiseArguments } from './values/sanitise-arguments.ts';
import type { ValueRules } from './values/value-rules.ts';

type Parameters = Readonly<Record<string, unknown>>;
type Needs = CallRequest & Noted & Admitted & Resolved;

/**
 * Checks the arguments against the tool's schema, converts them where nothing is lost, and refuses control characters
 * and attacks (VAL-01, VAL-02, VAL-04, VAL-06).
 */
export function validate({
  schemas,
  values: rules,
}: Pick<PipelineParts, 'schemas' | 'values'>): Stage<Needs, Validated> {
  return {
    name: 'validate',
    reaches: 'VALIDATED',
    async run({ request, givenParameters, tool: { manifest }, warnings: before }) {
      const schema = schemas.compile(manifest.parameters_schema);
      if (isFailure(schema)) return schema;
      const given = withoutControlCharacters(givenParameters, rules, manifest);
      if (isFailure(given)) return given;
      const { value, faults } = schema.check(given, { coerce: rules.coerceArguments });
      if (faults.length > 0) return argumentsRefused(faults);
      const checked = value as Parameters;
      const warnings = [...before];
      const safe = sanitiseArguments(rules, schema, manifest, checked, warnings);
      if (isFailure(safe)) return { refused: safe, established: { warnings } };
      const { parameters, findings: argumentFindings } = safe;
      return { parameters, argumentFindings, inputHash: inputHashOf(request, parameters), warnings };
    },
  };
}

/**
 * An approval or a key that is bound to the arguments is bound to the variables, the documents and the checkpoint too from which
 * the call begins.
 */
function inputHashOf(request: CallRequest['request'], parameters: Parameters): string {
  const { execution_options, document_context, checkpoint_config } = request;
  const more = [execution_options?.environment, document_context, checkpoint_config?.resume_from_checkpoint_id];
  const given = more.slice(0, more.findLastIndex((one) => one !== undefined) + 1);
  return sha256(canonicalJson(given.length === 0 ? parameters : [parameters, ...given]));
}

function withoutControlCharacters(
  parameters: Parameters,
  { controlCharacters }: ValueRules,
  manifest: ToolManifest,
): Parameters | Failure {
  if (controlCharacters === 'allow') return parameters;
  const { value, faults } = withoutControls(parameters, controlCharacters, (path) => isCarried(manifest, path));
  return faults.length > 0 ? argumentsRefused(faults) : (value as Parameters);
}
