import { KiB, MiB } from '@sallyport/std/bytes';
import { days, integer, seconds } from '../domain/settings/rows.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';

/** Settings of checkpoints (000 §3.3.8). */
export const TOOL_CHECKPOINT_SETTINGS = {
  intervalMs: seconds('checkpoints.interval_seconds', {
    timed: true,
    minimum: 1,
    default: 30,
    sentence: 'How often the layer takes the state of a running tool that offers one, unless the call says otherwise.',
  }),
  microTtlMs: seconds('checkpoints.micro_ttl_seconds', {
    minimum: 1,
    default: 3600,
    sentence: 'How long a micro checkpoint is kept after it was saved or read last.',
  }),
  macroKeptMs: days('checkpoints.macro_days', {
    minimum: 1,
    default: 90,
    sentence: 'How long a checkpoint at a milestone is kept in the database.',
  }),
  archiveKeptMs: days('checkpoints.archive_days', {
    minimum: 0,
    default: 2557,
    sentence: 'How long it is kept in the object store after that, by default 7 years; 0 removes it instead.',
  }),
  failedKeptMs: days('checkpoints.failed_days', {
    minimum: 1,
    default: 30,
    sentence: 'How long checkpoints at milestones are kept of a call that failed.',
  }),
  stateBytesMax: integer('checkpoints.state_bytes_max', {
    unit: 'bytes',
    minimum: KiB,
    default: 64 * MiB,
    sentence: 'Largest state of a checkpoint, before it is compressed.',
  }),
  deltasMax: integer('checkpoints.deltas_max', {
    unit: 'checkpoints',
    minimum: 0,
    default: 20,
    sentence: 'Checkpoints in a row that are stored as the difference from the one before; then a whole one follows.',
  }),
  savesMax: integer('checkpoints.saves_max', {
    unit: 'checkpoints',
    minimum: 1,
    default: 100_000,
    sentence: 'Most checkpoints that one call may save.',
  }),
  callBytesMax: integer('checkpoints.call_bytes_max', {
    unit: 'bytes',
    minimum: KiB,
    default: 1024 * MiB,
    sentence: 'Most bytes that the checkpoints of one call may take, as they are stored.',
  }),
};

/** Settings of the threads of agents (STA-07). */
export const THREAD_SETTINGS = {
  threadsMax: integer('threads.max', {
    unit: 'threads',
    minimum: 1,
    default: 10_000,
    sentence: 'Threads of one agent and user.',
  }),
  bytesMax: integer('threads.bytes_max', {
    unit: 'bytes',
    minimum: KiB,
    default: 1024 * MiB,
    sentence: 'What the threads of one agent and user take together, as they are stored.',
  }),
  keptMs: days('threads.days', {
    minimum: 0,
    default: 90,
    sentence: 'How long a thread is kept after its last change; 0 keeps it until it is removed.',
  }),
};

/** When checkpoints are archived (000 §3.3.8). */
export const RETENTION_TIME_SETTINGS = {
  hour: integer('checkpoints.retention_hour', {
    unit: 'hour of the day, UTC',
    minimum: 0,
    maximum: 23,
    default: 2,
    sentence: 'When one of all instances archives checkpoints at milestones whose time in the database is over.',
  }),
};

/** Values of the settings of checkpoints. */
export type CheckpointSettings = ValuesOf<typeof TOOL_CHECKPOINT_SETTINGS>;

/** Values of the settings of threads. */
export type ThreadSettings = ValuesOf<typeof THREAD_SETTINGS>;
