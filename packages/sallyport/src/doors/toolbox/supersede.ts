import { failure } from '@sallyport/std/error/failure';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { manifestOf, metadataOf } from './tool-metadata.ts';
import { errorResult, skippedResult } from './tool-result.ts';
import type {
  CheckSupersede,
  PlannedToolExecution,
  SupersedeDecision,
  ToolMetadata,
  ToolResult,
} from './toolbox-types.ts';

const DECISIONS: ReadonlySet<unknown> = new Set<SupersedeDecision>(['SUPERSEDE', 'ABSORB', 'FORCE_COMPLETE', 'QUEUE']);

/** Outcome of the question: the tool does not run, or it does. */
export type Asked =
  | { readonly stopped: ToolResult }
  | { readonly metadata: ToolMetadata | undefined; readonly decision: SupersedeDecision | undefined };

/**
 * Asks the caller before an irreversible tool (VIS-05). Tools that do not exist for the agent are not asked about:
 * their call reports that. When the question cannot be answered, or the answer is invalid, the tool does not run.
 */
export async function askSupersede(
  layer: ToolLayer,
  caller: Caller,
  planned: PlannedToolExecution,
  check: CheckSupersede,
): Promise<Asked> {
  const { toolName, version } = planned;
  let metadata: ToolMetadata | undefined;
  try {
    const manifest = await manifestOf(layer, caller, toolName, version);
    metadata = manifest === undefined ? undefined : metadataOf(manifest);
  } catch (thrown) {
    return { stopped: errorResult(toolName, failureOf(thrown)) };
  }
  if (metadata?.isIrreversible !== true) return { metadata, decision: undefined };
  let decision: SupersedeDecision | undefined;
  try {
    decision = await check(planned, metadata);
  } catch (cause) {
    return { stopped: errorResult(toolName, undecided(toolName, 'failed', cause)) };
  }
  if (decision === 'SUPERSEDE') return { stopped: skippedResult(toolName, superseded(toolName), decision) };
  if (decision !== undefined && !DECISIONS.has(decision)) {
    return { stopped: errorResult(toolName, undecided(toolName, 'gave none of its four answers')) };
  }
  return { metadata, decision };
}

const superseded = (toolName: string) =>
  failure('E3805', `The turn was superseded before ${toolName} ran, which cannot be taken back. Nothing was run.`, {
    details: { supersede: 'SUPERSEDE' },
  });

const undecided = (toolName: string, why: string, cause?: unknown) =>
  failure('E3805', `The supersede check before ${toolName} ${why}, so nothing was run.`, { cause });
