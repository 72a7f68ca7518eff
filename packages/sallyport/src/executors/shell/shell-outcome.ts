import type { CollectedOutput } from '@sallyport/sandbox';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { roundedIn } from '@sallyport/std/json/json-text';
import type { ExecutorOutcome } from '../executor.port.ts';
import { envelopeOf, type ProgramEnd } from '../programs/program-end.ts';
import type { ShellPlan } from './shell-plan.ts';

const WORDS = {
  kind: 'tool',
  name: 'The tool',
  notFound: 'The program of the tool is not there (exit code 127). Its folder may lack in permissions.filesystem.',
} as const;

/**
 * The result of a run, and how its program ended.
 * @throws the errors of {@link envelopeOf}; E3501 when the manifest promises JSON and the tool wrote something else
 */
export function outcomeOf(
  { config, successCodes }: ShellPlan,
  end: ProgramEnd,
): Pick<ExecutorOutcome, 'result' | 'rounded' | 'exit'> {
  const envelope = envelopeOf(end, WORDS, successCodes);
  if (config.output === 'text') return { result: envelope.stdout, exit: envelope };
  if (config.output !== 'json') return { result: envelope, exit: envelope };
  const result = parsed(end.output);
  const rounded = roundedIn(end.output.stdout);
  return { result, exit: envelope, ...(rounded.length === 0 ? {} : { rounded }) };
}

function parsed({ stdout, truncated }: CollectedOutput): unknown {
  try {
    return JSON.parse(stdout) as unknown;
  } catch (cause) {
    const message = truncated ? 'The output of the tool was cut, so it is not whole JSON.' : 'The tool wrote no JSON.';
    throw new ToolLayerError('E3501', message, { cause });
  }
}
