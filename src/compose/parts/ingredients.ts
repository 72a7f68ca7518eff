import type { NativeExecutor } from '../../executors/native/native-executor.ts';
import type { Clock } from '../../std/clock.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Settings } from '../settings.ts';
import type { DatabaseServer } from '../start-database.ts';

/** What the layer is made from. */
export interface Ingredients {
  readonly settings: Settings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly native: NativeExecutor;
  /** Closed with what was assembled. */
  readonly server: Promise<DatabaseServer>;
  readonly onStage?: (stage: string, ms: number) => void;
}
