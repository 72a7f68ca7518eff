import { failure } from '@sallyport/std/error/failure';
import { UpstreamNameRequest, UpstreamRemoveResponse } from '../../../api/schemas/upstream.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange, registryEvent } from '../tools/registry-event.ts';

/** Disconnects an MCP server and removes its tools. What a removal that was cut off left is removed by the next one. */
export const removeUpstream = operation({
  name: 'upstreams.remove',
  summary: 'Disconnect an upstream and remove its tools',
  method: 'DELETE',
  path: '/v1/upstreams/{name}',
  status: 200,
  access: 'operator',
  input: UpstreamNameRequest,
  output: UpstreamRemoveResponse,
  run:
    (parts: OperationParts) =>
    async ({ name }, asker) => {
      const { tenantId } = asker.principal;
      let named: readonly string[] | undefined;
      const eventsOf = () => {
        named = registeredOf(parts.registry, tenantId, name);
        return [registryEvent(parts, asker, name, removed(name, named))];
      };
      const wasThere = await recordedChange(parts.ledger, eventsOf, (keep) =>
        parts.upstreams.remove(tenantId, name, keep),
      );
      const hadLogins = await parts.logins.removeAll(tenantId, name);
      if (!wasThere && !hadLogins && !hasTools(parts, tenantId, name))
        return failure('E3809', `There is no upstream ${name}.`);
      const removed_tools = await parts.quarantine.inTurn(tenantId, name, async () =>
        // An upstream that was added under this name meanwhile keeps its tools.
        parts.upstreams.definition(tenantId, name) === undefined ? removeToolsOf(parts, asker, name, named) : [],
      );
      return { name, removed_tools: [...removed_tools] };
    },
});

/**
 * Removes the tools of an upstream that was removed, and forgets what was accepted of it.
 * @param named the tools that the audited removal of the upstream names; absent: that was not audited here
 * @returns the ids of the tools
 */
export async function removeToolsOf(
  parts: Pick<OperationParts, 'quarantine' | 'registry' | 'ledger' | 'clock'>,
  asker: Asker,
  name: string,
  named?: readonly string[],
): Promise<readonly string[]> {
  const { quarantine, registry } = parts;
  const { tenantId } = asker.principal;
  await quarantine.forget(tenantId, name);
  const leaving = registeredOf(registry, tenantId, name);
  const left = await registry.removeAll(tenantId, leaving);
  if (named === undefined || leaving.some((id) => !named.includes(id)))
    await recordChange(parts, asker, name, removed(name, leaving));
  await registry.recorded(left);
  return leaving;
}

const removed = (upstream: string, tool_ids: readonly string[]) => ({
  change: 'upstream-removed',
  upstream,
  tool_ids,
});

const hasTools = ({ quarantine, registry }: OperationParts, tenantId: string, name: string): boolean =>
  quarantine.tools(tenantId, name).length > 0 || registeredOf(registry, tenantId, name).length > 0;

/** Ids of the tools of an upstream. */
const registeredOf = (registry: OperationParts['registry'], tenantId: string, name: string): readonly string[] =>
  registry.manifests(tenantId).flatMap(({ manifest: { tool_id, executor } }) => {
    return executor.kind === 'mcp' && executor.config?.['upstream'] === name ? [tool_id] : [];
  });
