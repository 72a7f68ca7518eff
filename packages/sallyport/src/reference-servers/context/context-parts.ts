import type { Clock } from '@sallyport/std/clock';
import type { ContextServerSettings } from '../context-settings.ts';
import type { ContextStore } from '../context-store.port.ts';

/** Dependencies of the context server. */
export interface ContextServerParts {
  readonly store: ContextStore;
  readonly clock: Clock;
  readonly settings: ContextServerSettings;
}
