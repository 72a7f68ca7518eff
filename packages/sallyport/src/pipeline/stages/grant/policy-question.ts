import type { TrustLevel } from '../../../../api/schemas/capability-token.ts';
import type { Grant } from '../../../domain/invocation/grant.ts';
import { sideEffectOf } from '../../../domain/tool/tool-version.ts';
import type { PolicyQuestion } from '../../../permission/policy-engine.port.ts';
import type { CallRequest, Resolved, Validated } from '../../call.ts';

/** What the policies are asked about a call. */
export function policyQuestion(
  { request, principal, tool, argumentFindings }: CallRequest & Resolved & Validated,
  grant: Grant,
  trust: TrustLevel,
): PolicyQuestion {
  const { manifest } = tool;
  const phase = request.execution_options?.phase;
  const split = manifest.tool_id.indexOf('__');
  return {
    principal,
    toolId: manifest.tool_id,
    toolVersion: manifest.version,
    contentHash: tool.contentHash,
    source: split < 0 ? '' : manifest.tool_id.slice(0, split),
    executor: manifest.executor.kind,
    category: manifest.category ?? '',
    tags: manifest.tags ?? [],
    sideEffect: sideEffectOf(manifest),
    grant,
    trust,
    argumentFindings,
    ...(phase === undefined ? {} : { phase }),
  };
}
