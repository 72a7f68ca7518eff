// Hot path: runs once for every call.
import { type Failure, failure, isFailure } from '../../domain/error/failure.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
import { sha256 } from '../../std/sha256.ts';
import type { Authorized, Executed, Inspected, Resolved } from '../call.ts';
import type { Flight } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage } from '../stage.ts';
import { fitResult } from './values/fit-result.ts';
import { markResult, warnTainted } from './values/mark-result.ts';
import { VALUE_RULES, type ValueRules } from './values/value-rules.ts';

type Needs = Resolved & Authorized & Executed;

/** Stage 10: the result is JSON, matches the tool's schema, is marked where it is not to be trusted, and fits the budget (VAL-01, VAL-03, MOD-10). */
export function inspect({
  schemas,
  values,
  log,
}: Pick<PipelineParts, 'schemas' | 'values' | 'log'>): Stage<Needs, Inspected> {
  const rules = { ...VALUE_RULES, ...values };
  return {
    name: 'inspect',
    run({ outcome, tool, grant }, flight) {
      if (outcome.toolError === true) return reportedError(rules, outcome.result, flight);
      const warnedBefore = flight.warnings.length;
      const fitting = fitResult(schemas, rules, tool.manifest, outcome.result, flight.warnings);
      if (isFailure(fitting)) return fitting;
      if (flight.warnings.length > warnedBefore) logLenience(log, tool.manifest.tool_id, flight);
      const marked = markResult(rules, fitting.result, flight.warnings);
      if (isFailure(marked)) return marked;
      const text = canonicalJson(marked.result);
      const result = cut(marked.result, text, grant.limits.outputBytesMax, flight);
      const outputHash = sha256(text);
      return result === marked.result
        ? { result, outputHash }
        : { result, outputHash, outputKeptHash: sha256(canonicalJson(result)) };
    },
  };
}

/** What passes only because strict mode is off is for the owner of the tool to mend. */
function logLenience(log: PipelineParts['log'], toolId: string, { call, warnings }: Flight): void {
  log.warn('result-not-as-promised', {
    tool_id: toolId,
    invocation_id: call.invocationId,
    warning: warnings.at(-1)?.code,
  });
}

/** A tool's own words of what went wrong are data of a stranger too. */
function reportedError(rules: ValueRules, result: unknown, { warnings }: Flight): Failure {
  try {
    canonicalJson(result);
  } catch {
    return failure('E3501', 'The tool reported an error that JSON cannot hold.');
  }
  warnTainted(rules, result, warnings);
  return failure('E3109', 'The tool reported an error; its own words are in details.result.', { details: { result } });
}

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
