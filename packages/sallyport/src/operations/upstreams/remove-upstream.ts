import { failure } from '@sallyport/std/error/failure';
import { UpstreamNameRequest, UpstreamRemoveResponse } from '../../../api/schemas/upstream.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../tools/registry-event.ts';

/** Disconnects an MCP server and removes its tools. */
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
      if (!(await parts.upstreams.remove(tenantId, name))) return failure('E3809', `There is no upstream ${name}.`);
      await parts.logins.removeAll(tenantId, name);
      await parts.quarantine.inTurn(tenantId, name, () => parts.quarantine.forget(tenantId, name));
      const leaving = parts.registry.manifests(tenantId).flatMap(({ manifest: { tool_id, executor } }) => {
        return executor.kind === 'mcp' && executor.config?.['upstream'] === name ? [tool_id] : [];
      });
      const left = await parts.registry.removeAll(tenantId, leaving);
      await recordChange(parts, asker, name, { change: 'upstream-removed', upstream: name, tool_ids: leaving });
      await parts.registry.recorded(left);
      return { name, removed_tools: leaving };
    },
});
