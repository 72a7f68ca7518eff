import type { Clock } from '@sallyport/std/clock';
import type { CallOwner } from '../../domain/invocation/call-owner.ts';
import type { ContextServerSettings } from '../context-settings.ts';
import type { ContextStore } from '../context-store.port.ts';

/** Dependencies of the context server. */
export interface ContextServerParts {
  readonly store: ContextStore;
  readonly clock: Clock;
  readonly settings: ContextServerSettings;
  /** Called when a context of the owner may have been changed here. */
  readonly onChanged: (owner: CallOwner) => void;
}
