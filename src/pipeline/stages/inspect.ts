import type { JsonSchemaObject } from '../../../api/schemas/identifiers.ts';
import type { ErrorCode } from '../../domain/error/catalogue.ts';
import { type Failure, failure, isFailure } from '../../domain/error/failure.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
import { sha256 } from '../../std/sha256.ts';
import type { Authorized, Executed, Inspected, Resolved } from '../call.ts';
import type { Flight } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';

type Needs = Resolved & Authorized & Executed;

/** Stage 10: the result is JSON, matches the tool's schema, and fits the budget (VAL-03, MOD-10). */
export function inspect({ schemas }: Pick<PipelineParts, 'schemas'>): Stage<Needs, Inspected> {
  return {
    name: 'inspect',
    run({ outcome, tool, grant }, flight) {
      const text = jsonOf(outcome.result);
      if (text === undefined) return failure('E3501', 'The tool returned something that JSON cannot hold.');
      if (outcome.toolError === true) return reportedError(outcome.result);
      const refused = mismatch(schemas, tool.manifest.result_schema, outcome.result);
      if (refused !== undefined) return refused;
      const outputHash = sha256(text);
      return { result: cut(outcome.result, text, grant.limits.outputBytesMax, flight), outputHash };
    },
  };
}

function jsonOf(result: unknown): string | undefined {
  try {
    return canonicalJson(result);
  } catch {
    return undefined;
  }
}

function mismatch(
  schemas: PipelineParts['schemas'],
  document: JsonSchemaObject | undefined,
  result: unknown,
): Failure | undefined {
  if (document === undefined) return undefined;
  const schema = schemas.compile(document);
  if (isFailure(schema)) return schema;
  const { faults } = schema.check(result, { coerce: false });
  if (faults.length === 0) return undefined;
  const code = faults.length === 1 ? (faults[0]?.code as ErrorCode) : 'E3501';
  return failure(code, 'The tool answered, but not as its result schema promises. Tell the owner of the tool.', {
    details: { faults },
  });
}

const reportedError = (result: unknown): Failure =>
  failure('E3109', 'The tool reported an error; its own words are in details.result.', { details: { result } });

/** A result beyond the budget becomes its first part, and says so. */
function cut(result: unknown, text: string, bytesMax: number, { warnings }: Flight): unknown {
  // A string has at most three bytes of UTF-8 for each UTF-16 unit, so short ones need no counting.
  if (text.length * 3 <= bytesMax) return result;
  const bytes = Buffer.byteLength(text);
  if (bytes <= bytesMax) return result;
  warnings.push({
    code: 'result_cut',
    message: `The result has ${bytes} bytes and was cut to the first ${bytesMax}. Ask for less, or raise execution_config.output_bytes_max.`,
    details: { bytes, bytes_max: bytesMax },
  });
  const shown = typeof result === 'string' ? result : text;
  return {
    truncated: true,
    bytes,
    preview: new TextDecoder().decode(Buffer.from(shown).subarray(0, bytesMax), { stream: true }),
  };
}
