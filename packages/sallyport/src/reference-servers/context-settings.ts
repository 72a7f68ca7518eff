import { KiB } from '@sallyport/std/bytes';
import { days, integer, oneOf } from '../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../domain/settings/setting.ts';

/** Settings of the reference context server (STA-04). */
export const CONTEXT_SERVER_SETTINGS = {
  embedded: oneOf('context.embedded', ['auto', 'on', 'off'], {
    default: 'auto',
    sentence:
      'Whether the layer is a context server too, as the upstream context of tenant.default and tenant.catalog; auto: where the command line starts it, not in an embedding program.',
  }),
  contextBytesMax: integer('context.bytes_max', {
    unit: 'bytes',
    minimum: KiB,
    default: 256 * KiB,
    sentence: 'Largest context of a task, as JSON.',
  }),
  versionsMax: integer('context.versions_max', {
    unit: 'versions',
    minimum: 2,
    default: 50,
    sentence: 'Newest versions of the context of a task that are kept.',
  }),
  checkpointsMax: integer('context.checkpoints_max', {
    unit: 'checkpoints',
    minimum: 1,
    default: 200,
    sentence: 'Checkpoints of the context of a task.',
  }),
  tasksMax: integer('context.tasks_max', {
    unit: 'tasks',
    minimum: 1,
    default: 10_000,
    sentence: 'Tasks of one agent and user; a new one replaces the oldest without a named checkpoint.',
  }),
  keptMs: days('context.days', {
    minimum: 1,
    default: 90,
    sentence: 'How long the context of a task is kept after its last change, unless it has a named checkpoint.',
  }),
};

/** Values of the settings of the reference context server. */
export type ContextServerSettings = ValuesOf<typeof CONTEXT_SERVER_SETTINGS>;

/** Values where nobody sets others. */
export const CONTEXT_SERVER_DEFAULTS: ContextServerSettings = defaultsOf(CONTEXT_SERVER_SETTINGS);
