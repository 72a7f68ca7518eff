import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { CallOwner } from '../domain/invocation/call-owner.ts';
import { seconds } from '../domain/settings/rows.ts';
import type { ValuesOf } from '../domain/settings/setting.ts';
import type { Log } from '../telemetry/log.ts';
import type { Overflow, OverflowStore } from './overflow-store.port.ts';

/** Settings of overflows. */
export const OVERFLOW_SETTINGS = {
  keptMs: seconds('calls.overflow_seconds', {
    whole: true,
    minimum: 0,
    default: 86_400,
    sentence: 'How long the whole text of a shortened result can be read with read_overflow; 0 keeps none.',
  }),
};

/** UTF-16 units of an overflow that are kept. */
export const OVERFLOW_CHARACTERS_MAX = 4 * MiB;

/** Whole texts of shortened results, for a time (MOD-06). */
export interface Overflows {
  /**
   * Keeps the text of a call, its first {@link OVERFLOW_CHARACTERS_MAX} characters. Never rejects: no call fails for
   * want of its overflow.
   * @returns true when it can be read
   */
  keep(owner: CallOwner, invocationId: string, text: string): Promise<boolean>;
  /**
   * Finds the overflow of a call of any owner; undefined when there is none, or its time is over.
   * @throws ToolLayerError E3812
   */
  find(tenantId: string, invocationId: string): Promise<Overflow | undefined>;
}

/** Dependencies of overflows. */
export interface OverflowParts extends ValuesOf<typeof OVERFLOW_SETTINGS> {
  readonly store: OverflowStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

/** Keeps overflows in a store, as long as the settings say. */
export function createOverflows({ store, clock, log, keptMs }: OverflowParts): Overflows {
  return {
    async keep({ tenantId, agentDid, userDid }, invocationId, text) {
      if (keptMs === 0) return false;
      const kept = text.slice(0, OVERFLOW_CHARACTERS_MAX);
      try {
        await store.keep({ tenantId, agentDid, userDid, invocationId, text: kept, keptAt: clock.now() });
        return true;
      } catch (thrown) {
        log.warn('overflow-not-kept', { invocation_id: invocationId, reason: failureOf(thrown).message });
        return false;
      }
    },
    async find(tenantId, invocationId) {
      const found = await store.find(tenantId, invocationId);
      return found !== undefined && found.keptAt + keptMs > clock.now() ? found : undefined;
    },
  };
}
