import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { Warning } from '../../../api/schemas/invocation.ts';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { keepMembers } from '../../domain/invocation/result-members.ts';
import type { Authorized, CallFact, CallRequest, Executed, Inspected, Noted, Resolved, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Refused, Stage } from '../stage.ts';
import { judgedResult } from './prepared/document-access.ts';
import { fitResult } from './values/fit-result.ts';
import { markResult, warnTainted } from './values/mark-result.ts';
import { shortenResult } from './values/shorten-result.ts';
import { createTurns, type Turns } from './values/turns.ts';

type Needs = CallRequest & Noted & Resolved & Validated & Authorized & Executed;

/**
 * Takes out the documents that the policies keep from the caller, checks that the result is JSON and matches the tool's
 * schema, marks it when it is untrusted, and shortens it (VAL-01, VAL-03, MOD-06, MOD-10).
 */
export function inspect(
  parts: Pick<
    PipelineParts,
    'schemas' | 'values' | 'log' | 'clock' | 'policy' | 'documents' | 'redactor' | 'outputFilters' | 'overflows'
  >,
): Stage<Needs, Inspected> {
  const { schemas, values: rules, log, clock } = parts;
  return {
    name: 'inspect',
    async run(call, { call: { invocationId = '' } }) {
      const { outcome, tool, warnings: before } = call;
      const turn = createTurns(clock);
      const warnings = [...before];
      if (outcome.toolError === true) return reportedError(parts, call, invocationId, { warnings, turn });
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
      if (outcome.exit?.truncated === true) warnings.push(OUTPUT_CUT);
      if (outcome.rounded !== undefined) warnings.push(rounded(outcome.rounded));
      await turn();
      const marked = await markResult(rules, fitting.result, warnings, turn);
      if (isFailure(marked)) return { refused: marked, established: { warnings, facts } };
      await turn();
      const text = canonicalJson(marked.result);
      await turn();
      const judgedText = { invocationId, result: marked.result, text };
      const result = await shortenResult(parts, call, judgedText, { warnings, turn });
      const outputHash = sha256(text);
      return result === marked.result
        ? { result, outputHash, warnings, facts }
        : { result, outputHash, warnings, facts, ...ofPart(tool.manifest, result, marked.result) };
    },
  };
}

/** What is established of a result of which a part is kept. */
function ofPart(manifest: ToolManifest, part: unknown, whole: unknown): Partial<Inspected> {
  const outputKeptHash = sha256(canonicalJson(part));
  if (manifest.compensation_tool_id === undefined) return { outputKeptHash };
  return { outputKeptHash, keptMembers: keepMembers(whole) };
}

/** The executor keeps no more of what a program writes than the result may have. */
const OUTPUT_CUT: Warning = {
  code: 'output_cut',
  message:
    'The program wrote more than is kept (execution_config.output_bytes_max), and the rest is lost. Ask it for less, or raise that limit.',
};

/** The places hold names that the tool chose, so the sentence, which is the layer's own, has none of them. */
function rounded(places: readonly string[]): Warning {
  const message =
    'Whole numbers of the result have more digits than a number keeps, and are rounded. Use none of them as an id.';
  return {
    code: 'result_rounded',
    message,
    details: { places: places.map((place) => place.slice(0, PLACE_CHARS_MAX)) },
  };
}

/** Characters of a place that the warning shows. */
const PLACE_CHARS_MAX = 200;

/** Logs what passes only because strict mode is off, for the owner of the tool to fix. */
function logLenience(
  log: PipelineParts['log'],
  of: { readonly tool_id: string; readonly invocation_id: string | undefined },
  warnings: readonly Warning[],
): void {
  log.warn('result-not-as-promised', { ...of, warning: warnings.at(-1)?.code });
}

/** A tool's own error message is untrusted data too; of what is kept of it, the redaction of failures comes first. */
async function reportedError(
  parts: Parameters<typeof inspect>[0],
  call: Needs,
  invocationId: string,
  { warnings, turn }: { readonly warnings: Warning[]; readonly turn: Turns },
): Promise<Failure | Refused<Inspected>> {
  const { result: said } = call.outcome;
  let text: string;
  try {
    text = canonicalJson(said);
  } catch {
    return failure('E3501', 'The tool reported an error that JSON cannot hold.');
  }
  await turn();
  await warnTainted(parts.values, said, warnings, turn);
  await turn();
  const redact = (whole: unknown): unknown => parts.redactor.value(whole).value;
  const result = await shortenResult(parts, call, { invocationId, result: said, text }, { warnings, turn }, redact);
  const message = 'The tool reported an error; its own words are in details.result.';
  return { refused: failure('E3109', message, { details: { result } }), established: { warnings } };
}
