import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';

/** Longest name of a member or an id in an error. */
const SHOWN_CHARACTERS = 128;
/** Most members that an error names. */
const SHOWN_FIELDS = 20;

const detailsOf = (taskId: string) => ({ task_id: taskId.slice(0, SHOWN_CHARACTERS) });

export const unknownTask = (taskId: string): ToolLayerError =>
  new ToolLayerError('E3702', 'This task has no context yet. Save a snapshot of it first, or correct its id.', {
    details: detailsOf(taskId),
  });

export const unknownCheckpoint = (taskId: string): ToolLayerError =>
  new ToolLayerError('E3702', 'The task has no such checkpoint. get_unified_context lists its checkpoints.', {
    details: detailsOf(taskId),
  });

export const versionGone = (taskId: string, version: number, current: number): ToolLayerError =>
  new ToolLayerError(
    'E3707',
    `Version ${version} of the context is not kept any more; the newest is ${current}. Read the context again.`,
    { details: { ...detailsOf(taskId), current_version: current } },
  );

export const futureVersion = (taskId: string, version: number, current: number): ToolLayerError =>
  new ToolLayerError(
    'E3801',
    `The context has no version ${version} yet; the newest is ${current}. Read the context again.`,
    { details: { ...detailsOf(taskId), current_version: current } },
  );

/** Another writer changed the same members. */
export function conflict(taskId: string, base: number, current: number, fields: readonly string[]): ToolLayerError {
  const shown = fields.slice(0, SHOWN_FIELDS).map((field) => field.slice(0, SHOWN_CHARACTERS));
  const more = fields.length > shown.length ? ` and ${fields.length - shown.length} more` : '';
  return new ToolLayerError(
    'E3704',
    `Since version ${base} another writer has changed ${shown.join(', ')}${more}; the newest version is ${current}. Read the context again, and save on top of it.`,
    { details: { ...detailsOf(taskId), base_version: base, current_version: current, fields: shown } },
  );
}

export const tooManyWriters = (taskId: string): ToolLayerError =>
  new ToolLayerError('E3704', 'Too many writers change this context at once. Try again.', {
    details: detailsOf(taskId),
  });

export const tooLarge = (bytes: number, max: number): ToolLayerError =>
  new ToolLayerError('E3102', `The context would have ${bytes} bytes; at most ${max} are possible. Save less in it.`, {
    details: { limit: 'context.bytes_max', max },
  });

export const tooManyTasks = (max: number): ToolLayerError =>
  new ToolLayerError(
    'E3102',
    `There are ${max} tasks with named checkpoints, and more are not possible. Use the id of an old one.`,
    {
      details: { limit: 'context.tasks_max', max },
    },
  );

export const tooManyCheckpoints = (max: number): ToolLayerError =>
  new ToolLayerError('E3102', `The task has ${max} checkpoints, and more are not possible. Begin another task.`, {
    details: { limit: 'context.checkpoints_max', max },
  });
