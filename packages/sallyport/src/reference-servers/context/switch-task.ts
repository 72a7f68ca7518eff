import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SwitchTaskArguments, SwitchTaskResult } from '../../../api/schemas/reference-servers/context.ts';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { ContextServerParts } from './context-parts.ts';
import { contextOf } from './read.ts';
import { save } from './write.ts';

/**
 * Saves the task that is left, then reads the one that is begun or continued.
 * @throws ToolLayerError E3801 for updates of no task; what `save` throws, and then nothing is switched
 */
export async function switchTask(
  parts: ContextServerParts,
  owner: CallOwner,
  { fromTaskId, toTaskId, updates, baseVersion, sessionId }: SwitchTaskArguments,
): Promise<SwitchTaskResult> {
  if (fromTaskId === undefined && (updates !== undefined || baseVersion !== undefined))
    throw new ToolLayerError('E3801', 'Name in fromTaskId the task whose updates these are.');
  const given = {
    ...(baseVersion === undefined ? {} : { baseVersion }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
  const saved =
    fromTaskId === undefined || updates === undefined
      ? undefined
      : await save(parts, owner, { taskId: fromTaskId, updates, ...given }, 'switched');
  const loaded = await contextOf(parts, owner, { taskId: toTaskId });
  return { ...(saved === undefined ? {} : { saved }), loaded };
}
