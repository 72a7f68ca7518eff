import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { Authorized, CallFact, CallRequest, Executed, Inspected, Noted, Resolved, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Refused, Stage } from '../stage.ts';
import { judgedResult } from './prepared/document-access.ts';
import { cutResult } from './values/cut-result.ts';
import { fitResult } from './values/fit-result.ts';
import { markResult, warnTainted } from './values/mark-result.ts';
import { createTurns, type Turns } from './values/turns.ts';
import type { ValueRules } from './values/value-rules.ts';

type Needs = CallRequest & Noted & Resolved & Validated & Authorized & Executed;

/**
 * Takes out the documents that the policies keep from the caller, checks that the result is JSON and matches the tool's
 * schema, marks it when it is untrusted, and cuts it to the budget (VAL-01, VAL-03, MOD-10).
 */
export function inspect(
  parts: Pick<PipelineParts, 'schemas' | 'values' | 'log' | 'clock' | 'policy' | 'documents'>,
): Stage<Needs, Inspected> {
  const { schemas, values: rules, log, clock } = parts;
  return {
    name: 'inspect',
    async run(call, { call: { invocationId } }) {
      const { outcome, tool, grant, warnings: before } = call;
      const turn = createTurns(clock);
      const warnings = [...before];
      if (outcome.toolError === true) return reportedError(rules, outcome.result, { tool, grant, warnings }, turn);
      let { facts } = call;
      const note = (fact: CallFact): void => {
        facts = [...facts, fact];
      };
      const judged = await judgedResult(parts, call, outcome.result, note).catch(failureOf);
      if (isFailure(judged)) return { refused: judged, established: { warnings, facts } };
      const fitting = fitResult(schemas, rules, tool.manifest, judged, warnings);
      if (isFailure(fitting)) return { refused: fitting, established: { warnings, facts } };
      if (warnings.length > before.length)
        logLenience(log, { tool_id: tool.manifest.tool_id, invocation_id: invocationId }, warnings);
      await turn();
      const marked = await markResult(rules, fitting.result, warnings, turn);
      if (isFailure(marked)) return { refused: marked, established: { warnings, facts } };
      await turn();
      const text = canonicalJson(marked.result);
      await turn();
      const result = cutResult(marked.result, text, grant.limits.outputBytesMax, tool.manifest, warnings);
      const outputHash = sha256(text);
      return result === marked.result
        ? { result, outputHash, warnings, facts }
        : { result, outputHash, warnings, facts, outputKeptHash: sha256(canonicalJson(result)) };
    },
  };
}

/** Logs what passes only because strict mode is off, for the owner of the tool to fix. */
function logLenience(
  log: PipelineParts['log'],
  of: { readonly tool_id: string; readonly invocation_id: string | undefined },
  warnings: readonly Warning[],
): void {
  log.warn('result-not-as-promised', { ...of, warning: warnings.at(-1)?.code });
}

/** A tool's own error message is untrusted data too. */
async function reportedError(
  rules: ValueRules,
  said: unknown,
  { tool, grant, warnings }: Pick<Needs, 'tool' | 'grant'> & { readonly warnings: Warning[] },
  turn: Turns,
): Promise<Failure | Refused<Inspected>> {
  let text: string;
  try {
    text = canonicalJson(said);
  } catch {
    return failure('E3501', 'The tool reported an error that JSON cannot hold.');
  }
  await turn();
  await warnTainted(rules, said, warnings, turn);
  await turn();
  const result = cutResult(said, text, grant.limits.outputBytesMax, tool.manifest, warnings);
  const message = 'The tool reported an error; its own words are in details.result.';
  return { refused: failure('E3109', message, { details: { result } }), established: { warnings } };
}
