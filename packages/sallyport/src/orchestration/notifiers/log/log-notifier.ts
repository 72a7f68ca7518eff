import type { Log } from '../../../telemetry/log.ts';
import { visibleNotice } from '../../notices/notice-text.ts';
import type { Notifier } from '../../notifier.port.ts';

/**
 * Structured lines, one for each notice: `approval-asked`, `approval-escalated`, `approval-decided`,
 * `approval-expired`.
 */
export function createLogNotifier(log: Log): Notifier {
  return {
    name: 'log',
    notify: (given) => {
      const { kind, decision, approvers, ...notice } = visibleNotice(given);
      const fields = {
        tenant_id: notice.tenantId,
        approval_id: notice.approvalId,
        invocation_id: notice.invocationId,
        tool_id: notice.toolId,
        tool_version: notice.toolVersion,
        agent_did: notice.agentDid,
        reason: notice.reason,
        escalation: notice.level,
        expires_at: new Date(notice.expiresAt).toISOString(),
        ...(approvers.length === 0 ? {} : { approvers: approvers.map(({ id }) => id) }),
        ...(decision === undefined ? {} : { outcome: decision.outcome, by: decision.by }),
      };
      // Notices that wait for a person are logged at a higher level than ended ones.
      if (kind === 'asked' || kind === 'escalated') log.warn(`approval-${kind}`, fields);
      else log.info(`approval-${kind}`, fields);
    },
  };
}
