import { NoInput } from '../../../api/schemas/identifiers.ts';
import { AvailabilityListResponse, AvailabilitySetRequest, ToolAvailability } from '../../../api/schemas/visibility.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import { unknownTool } from '../../registry/registry.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { registryEvent } from '../tools/registry-event.ts';

/** The tenant's settings for the availability of tools. */
export const listAvailability = operation({
  name: 'availability.list',
  summary: 'List what was said of the availability of tools to the tenant',
  method: 'GET',
  path: '/v1/availability',
  status: 200,
  access: 'viewer',
  input: NoInput,
  output: AvailabilityListResponse,
  run:
    ({ visibility }: Pick<OperationParts, 'visibility'>) =>
    (_input, { principal }) => {
      const said = [...(visibility.rulesOf(principal.tenantId)?.availability.values() ?? [])];
      return { availability: said.sort((a, b) => (a.tool_id < b.tool_id ? -1 : 1)) };
    },
});

/** Makes a tool of the catalogue available to the tenant, or one of its own unavailable. */
export const setAvailability = operation({
  name: 'availability.set',
  summary: 'Make a tool available to the tenant, or unavailable',
  method: 'POST',
  path: '/v1/availability',
  status: 200,
  access: 'operator',
  input: AvailabilitySetRequest,
  output: ToolAvailability,
  run:
    (parts: Pick<OperationParts, 'visibility' | 'visible' | 'ledger' | 'clock'>) =>
    async ({ tool_id, available, reason }, asker) => {
      const { tenantId } = asker.principal;
      if (!parts.visible.exists(tenantId, tool_id)) return unknownTool(tool_id);
      const because = reason === undefined ? {} : { reason };
      const said = { tool_id, available, ...because };
      const eventsOf = () => [registryEvent(parts, asker, tool_id, { change: 'availability-set', ...said })];
      return recordedChange(parts.ledger, eventsOf, (keep) => parts.visibility.setAvailability(tenantId, said, keep));
    },
});
