import type { Redactor } from '@sallyport/guards';
import type { Clock } from '@sallyport/std/clock';
import type { SideEffectListener } from '../../audit/relay/side-effect-listener.ts';
import type { NativeExecutor } from '../../executors/native/native-executor.ts';
import type { ProgramOffers } from '../../executors/native/program-offers.ts';
import type { Hook } from '../../hooks/hook.ts';
import type { OutputFilter } from '../../model-facing/output-filter.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Settings } from '../settings.ts';
import type { DatabaseServer } from '../start-database.ts';

/** Dependencies from which the layer is built. */
export interface Ingredients {
  readonly settings: Settings;
  /** Absolute paths that no tool may see (`ownPlaces`). */
  readonly closed: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  /** Removes personal data and secrets from everything that is written (AUD-04). */
  readonly redactor: Redactor;
  readonly native: NativeExecutor;
  readonly programOffers: ProgramOffers;
  /** Closed together with the assembled layer. */
  readonly server: Promise<DatabaseServer>;
  /** Asked before and after calls, before the hooks of the settings. */
  readonly hooks?: readonly Hook[];
  /** Shorten results, before the output filters of the settings. */
  readonly outputFilters?: readonly OutputFilter[];
  /** The embedding program's own; none when absent. */
  readonly onSideEffect?: SideEffectListener;
  readonly onStage?: (stage: string, ms: number) => void;
}
