import type { Upstreams } from '../../mcp-servers/upstreams.ts';
import type { WorkerParts } from '../../orchestration/workers.ts';
import type { toolsOfTenants } from '../../registry/registry.ts';

/** Longest time that the cancel of a task may take, in ms. */
const CANCEL_MS = 2_000;

/**
 * Cancels tasks of calls that wait on record. An upstream with a connection for each caller has none for the layer
 * itself: its task runs on.
 */
export function cancelServerTasks(
  upstreams: Pick<Upstreams, 'cancelTask'>,
  toolOf: ReturnType<typeof toolsOfTenants>,
): NonNullable<WorkerParts['cancelServerTask']> {
  return async ({ tenantId, invocationId, toolId, toolVersion }, task) => {
    const upstream = toolOf(tenantId, toolId, toolVersion)?.manifest.executor.config?.['upstream'];
    if (typeof upstream !== 'string') return;
    const options = { invocationId, signal: AbortSignal.timeout(CANCEL_MS) };
    await upstreams.cancelTask(tenantId, upstream, task, options).catch(() => undefined);
  };
}
