import type { RestoredCheckpoint } from '../../domain/checkpoint/checkpoint.ts';
import { defaultsOf } from '../../domain/settings/setting.ts';
import type { CheckpointedRun } from '../checkpoints.ts';
import { TOOL_CHECKPOINT_SETTINGS } from '../settings.ts';
import type { CheckpointListener } from './checkpointed-run.ts';

/** Values of the settings where nobody sets others. */
export const CHECKPOINT_DEFAULTS = defaultsOf(TOOL_CHECKPOINT_SETTINGS);

/** Checkpoints are reported nowhere. */
export const noListener: CheckpointListener = {
  instanceId: 'one',
  reports: () => false,
  saved: () => {},
  resumed: () => {},
};

export const OWNER = { tenantId: 'acme', agentDid: 'did:example:a', userDid: 'did:example:u' };

/** A run of the tool `work`. */
export const run = (invocationId: string, more: Partial<CheckpointedRun> = {}): CheckpointedRun => ({
  invocationId,
  owner: OWNER,
  toolId: 'work',
  toolVersion: '1.0.0',
  onSaved: () => {},
  ...more,
});

/** The state of a checkpoint that was saved as JSON. */
export const stateOf = (restored: RestoredCheckpoint | undefined): unknown =>
  restored === undefined ? undefined : JSON.parse(Buffer.from(restored.bytes).toString());

/** Says of every holder of work that its call is over. */
export const isOver = async (_holder: string): Promise<boolean> => true;

/** A state of which a later step differs in little. */
export const large = (step: number) => ({
  step,
  items: Array.from({ length: 2000 }, (_, at) => ({ at, done: at < step })),
});
