import { randomUUID } from 'node:crypto';
import type { InvocationRecord } from '../../../domain/invocation/record.ts';
import type { WorkerParts } from '../worker-parts.ts';

/** Audits that a run was cut off for a more urgent call, or for the end of the layer (PIPE-08). */
export async function notePreempted(
  { ledger, clock, instanceId }: Pick<WorkerParts, 'ledger' | 'clock' | 'instanceId'>,
  { tenantId, invocationId, agentDid, toolId, toolVersion, inputHash, door }: InvocationRecord,
  preemptions: number,
): Promise<void> {
  await ledger.commit({
    events: [
      {
        id: randomUUID(),
        type: 'ai.agent.tool.preempted',
        time: clock.now(),
        tenantId,
        subject: invocationId,
        data: {
          agent_did: agentDid,
          capabilities: [],
          door,
          instance_id: instanceId,
          invocation_id: invocationId,
          preemptions,
          state: 'EXECUTING',
          tenant_id: tenantId,
          tool_id: toolId,
          ...(inputHash === undefined ? {} : { input_hash: inputHash }),
          ...(toolVersion === undefined ? {} : { tool_version: toolVersion }),
        },
      },
    ],
    durability: 'asynchronous',
  });
}
