import {
  ActivationListRequest,
  ActivationListResponse,
  ActivationRemoveRequest,
  ActivationRemoveResponse,
  ActivationSetRequest,
  ToolActivation,
} from '../../../api/schemas/visibility.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import { unknownTool } from '../../registry/registry.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { registryEvent } from '../tools/registry-event.ts';

type Changing = Pick<OperationParts, 'visibility' | 'visible' | 'ledger' | 'clock'>;

/** The activations of the tenant, of one agent, of one user or of one tool. */
export const listActivations = operation({
  name: 'activations.list',
  summary: 'List the activations of agents',
  method: 'GET',
  path: '/v1/activations',
  status: 200,
  access: 'viewer',
  input: ActivationListRequest,
  output: ActivationListResponse,
  run:
    ({ visibility }: Pick<OperationParts, 'visibility'>) =>
    ({ agent_did, user_did, tool_id }, { principal }) => {
      const rules = visibility.rulesOf(principal.tenantId);
      const all = agent_did === undefined ? rules?.activations : rules?.byAgent.get(agent_did);
      const wanted = [...(all?.values() ?? [])]
        .filter((each) => tool_id === undefined || each.tool_id === tool_id)
        .filter((each) => user_did === undefined || each.user_did === user_did);
      return { activations: wanted.sort(inOrder) };
    },
});

const inOrder = (a: ToolActivation, b: ToolActivation): number =>
  compare(a.agent_did, b.agent_did) || compare(a.tool_id, b.tool_id) || compare(a.user_did, b.user_did);

const compare = (a = '', b = ''): number => Number(a > b) - Number(a < b);

const ofUser = (user_did: string | undefined) => (user_did === undefined ? {} : { user_did });

/**
 * Sets whether one agent, or one user of it, may use a tool, and under which policy; replaces the earlier activation as
 * a whole.
 */
export const setActivation = operation({
  name: 'activations.set',
  summary: 'Enable or disable a tool for one agent, with policy overrides',
  method: 'POST',
  path: '/v1/activations',
  status: 200,
  access: 'operator',
  input: ActivationSetRequest,
  output: ToolActivation,
  run:
    (parts: Changing) =>
    async ({ agent_did, user_did, tool_id, enabled = true, policy_overrides = {}, reason }, asker) => {
      const { tenantId } = asker.principal;
      if (!parts.visible.exists(tenantId, tool_id)) return unknownTool(tool_id);
      const because = reason === undefined ? {} : { reason };
      const said = { agent_did, ...ofUser(user_did), tool_id, enabled, policy_overrides, ...because };
      const eventsOf = () => [registryEvent(parts, asker, tool_id, { change: 'activation-set', ...said })];
      return recordedChange(parts.ledger, eventsOf, (keep) => parts.visibility.setActivation(tenantId, said, keep));
    },
});

/** Removes an activation: without one the tool is enabled (VIS-01). */
export const removeActivation = operation({
  name: 'activations.remove',
  summary: 'Remove an activation; the tool is enabled as its manifest says',
  method: 'DELETE',
  path: '/v1/activations/{tool_id}',
  status: 200,
  access: 'operator',
  input: ActivationRemoveRequest,
  output: ActivationRemoveResponse,
  run:
    (parts: Changing) =>
    async ({ agent_did, user_did, tool_id }, asker) => {
      const of = { agent_did, ...ofUser(user_did), tool_id };
      const { tenantId } = asker.principal;
      const eventsOf = () => [registryEvent(parts, asker, tool_id, { change: 'activation-removed', ...of })];
      const removed = await recordedChange(parts.ledger, eventsOf, (keep) =>
        parts.visibility.removeActivation(tenantId, of, keep),
      );
      return { ...of, removed };
    },
});
