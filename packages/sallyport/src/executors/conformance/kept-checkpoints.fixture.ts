import { memoryCheckpointStore } from '../../../test/stores/outcomes/memory-checkpoint-store.ts';
import { memoryObjectStore } from '../../../test/stores/outcomes/memory-object-store.ts';
import { type CheckpointedRun, createCheckpoints } from '../../bridges/checkpoints.ts';
import { CHECKPOINT_DEFAULTS, noListener } from '../../bridges/run/runs.fixture.ts';
import type { CheckpointSettings } from '../../bridges/settings.ts';
import type { RunCheckpoints } from '../../domain/checkpoint/checkpoint.ts';
import { silentLog } from '../../telemetry/log.ts';

/** The checkpoints of one call, run after run, over a store in memory. */
export interface KeptCheckpoints {
  /** The checkpoints of the next run, which continues from the newest. */
  next(more?: Partial<CheckpointedRun>): Promise<RunCheckpoints>;
  /** Type, label and state as text of all that were saved, oldest first. */
  saved(): Promise<readonly (readonly [type: string, label: string | undefined, state: string])[]>;
}

export function keptCheckpoints(given: Partial<CheckpointSettings> = {}): KeptCheckpoints {
  const clock = { now: Date.now, monotonic: () => performance.now() };
  const settings = { ...CHECKPOINT_DEFAULTS, ...given };
  const store = memoryCheckpointStore();
  const objects = memoryObjectStore(new Map());
  const parts = { store, archive: store, objects, clock, log: silentLog, settings, listener: noListener };
  const checkpoints = createCheckpoints(parts);
  const owner = { tenantId: 'acme', agentDid: 'did:example:agent' };
  const run = { invocationId: 'call', owner, toolId: 'subject', toolVersion: '1.0.0', onSaved: () => {} };
  return {
    async next(more) {
      return checkpoints.ofRun({ ...run, ...more }, await checkpoints.continuing(run)).ofAttempt();
    },
    async saved() {
      const all = await checkpoints.list('acme', 'call', 99);
      return Promise.all(
        all.toReversed().map(async ({ type, label, checkpointId }) => {
          const { state } = await checkpoints.read('acme', checkpointId);
          return [type, label, Buffer.from(state).toString()] as const;
        }),
      );
    },
  };
}
