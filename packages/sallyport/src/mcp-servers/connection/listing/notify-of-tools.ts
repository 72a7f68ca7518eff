import type { Log } from '../../../telemetry/log.ts';
import type { ToolsChanged } from '../../known-upstream.ts';

/** Calls a listener; its failure is logged and harms nobody else. */
export function notifyOfTools(listener: ToolsChanged, log: Log, ...changed: Parameters<ToolsChanged>): void {
  try {
    listener(...changed);
  } catch (thrown) {
    log.error('upstream-listener-failed', { upstream: changed[1], error: String(thrown) });
  }
}
