import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import { contentHash } from '../../domain/tool/tool-version.ts';
import type { ExecutorCall } from '../executor.port.ts';

/** A call of a tool with this manifest; every part that is not given has a small and harmless default. */
export function callOf(
  manifest: Pick<ToolManifest, 'executor'> & Partial<ToolManifest>,
  parameters: Record<string, unknown> = {},
  more: Partial<Omit<ExecutorCall, 'tool' | 'parameters'>> = {},
): ExecutorCall {
  const whole: ToolManifest = {
    tool_id: 'subject',
    tool_name: 'Subject',
    version: '1.0.0',
    description: 'A tool under test.',
    parameters_schema: { type: 'object' },
    ...manifest,
  };
  return {
    invocationId: 'invocation-1',
    principal: { tenantId: 'acme', agentDid: 'did:example:agent', roles: ['agent'] },
    tool: {
      tenantId: 'acme',
      manifest: whole,
      contentHash: contentHash(whole),
      state: 'active',
      registeredAt: '2026-01-01T00:00:00.000Z',
    },
    parameters,
    grant: {
      filesystem: [],
      network: whole.permissions?.network ?? [],
      credentials: whole.permissions?.credentials ?? [],
      limits: { timeoutMs: 30_000, cpuMillicores: 500, memoryMb: 256, outputBytesMax: 65_536 },
    },
    secrets: new Map(),
    attempt: 1,
    ...more,
  };
}
