import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import type { Log } from '../../../telemetry/log.ts';

/** Called when the tools of an upstream differ from the last list known in this process; never for `add`. */
export type ToolsChanged = (
  tenantId: string,
  name: string,
  tools: readonly ListedMcpTool[],
  serverVersion: string,
) => void;

/** A listener that fails must not fail the others. */
export function notifyListener(
  listener: ToolsChanged,
  tenantId: string,
  name: string,
  tools: readonly ListedMcpTool[],
  version: string,
  log: Log,
): void {
  try {
    listener(tenantId, name, tools, version);
  } catch (thrown) {
    log.error('upstream-listener-failed', { upstream: name, error: String(thrown) });
  }
}
