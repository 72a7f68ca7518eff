import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import { type ChainedEvent, cloudEventOf } from '../../domain/event/chained-event.ts';
import type { Log } from '../../telemetry/log.ts';

/**
 * Notified of the side effects of the calls that run in this instance (VIS-09): `ai.agent.tool.side_effect.started`,
 * `completed`, `failed` and `compensated`, each once and in order, as soon as it is on record. It must return quickly;
 * what it throws is logged and changes nothing.
 */
export type SideEffectListener = (event: CloudEvent) => void;

const SIDE_EFFECT = 'ai.agent.tool.side_effect.';

/** Passes the side effects among committed events to a listener. */
export function notifySideEffects(
  listener: SideEffectListener,
  log: Pick<Log, 'warn'>,
): (events: readonly ChainedEvent[]) => void {
  return (events) => {
    for (const event of events) {
      if (!event.type.startsWith(SIDE_EFFECT)) continue;
      try {
        listener(cloudEventOf(event));
      } catch (thrown) {
        log.warn('side-effect-listener-failed', { event_id: event.id, reason: String(thrown) });
      }
    }
  };
}
