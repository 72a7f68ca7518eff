import { unknownTool } from '../../registry/registry.ts';
import type { Run } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../registry-event.ts';

type Changing = Pick<OperationParts, 'visibility' | 'visible' | 'ledger' | 'clock'>;

/** The activations of the tenant, of one agent or of one tool. */
export function listActivations({ visibility }: Pick<OperationParts, 'visibility'>): Run<'activations.list'> {
  return ({ agent_did, tool_id }, { principal }) => {
    const rules = visibility.rulesOf(principal.tenantId);
    const all = agent_did === undefined ? rules?.activations : rules?.byAgent.get(agent_did);
    const wanted = [...(all?.values() ?? [])].filter((each) => tool_id === undefined || each.tool_id === tool_id);
    return {
      activations: wanted.sort((a, b) => compare(a.agent_did, b.agent_did) || compare(a.tool_id, b.tool_id)),
    };
  };
}

const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Says whether one agent may use a tool, and under which policy; replaces what was said before as a whole. */
export function setActivation(parts: Changing): Run<'activations.set'> {
  return async ({ agent_did, tool_id, enabled = true, policy_overrides = {}, reason }, asker) => {
    const { tenantId } = asker.principal;
    if (!parts.visible.exists(tenantId, tool_id)) return unknownTool(tool_id);
    const said = { agent_did, tool_id, enabled, policy_overrides, ...(reason === undefined ? {} : { reason }) };
    const activation = await parts.visibility.setActivation(tenantId, said);
    await recordChange(parts, asker, tool_id, { change: 'activation-set', ...said });
    return activation;
  };
}

/** Takes back what was said: no activation means enabled (VIS-01). */
export function removeActivation(parts: Changing): Run<'activations.remove'> {
  return async ({ agent_did, tool_id }, asker) => {
    const removed = await parts.visibility.removeActivation(asker.principal.tenantId, agent_did, tool_id);
    if (removed) await recordChange(parts, asker, tool_id, { change: 'activation-removed', agent_did, tool_id });
    return { agent_did, tool_id, removed };
  };
}
