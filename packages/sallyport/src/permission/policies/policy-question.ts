import { MiB } from '@sallyport/std/bytes';
import type { PolicyQuestionBody } from '../../../api/schemas/policy.ts';
import type { Grant } from '../../domain/invocation/grant.ts';
import type { PolicyQuestion } from '../policy-engine.port.ts';

/** Limits of a hypothetical call: those of a tool that states none. */
const LIMITS = { timeout_ms: 30_000, cpu_millicores: 500, memory_mb: 1024, output_bytes_max: MiB };

/**
 * A question about a hypothetical call. Missing members get the values of a manifest and a token that state nothing.
 */
export function policyQuestionOf({ principal = {}, tool, context = {} }: PolicyQuestionBody): PolicyQuestion {
  const { tool_id, version = '1.0.0', content_hash = '', executor = 'native', category = '', tags = [] } = tool;
  const { tenant_id, agent_did, user_did, session_id, roles = ['agent'], trust = 'trusted' } = principal;
  const split = tool_id.indexOf('__');
  return {
    principal: {
      tenantId: tenant_id ?? 'default',
      agentDid: agent_did ?? 'did:example:agent',
      ...(user_did === undefined ? {} : { userDid: user_did }),
      ...(session_id === undefined ? {} : { sessionId: session_id }),
      roles,
      trust,
    },
    toolId: tool_id,
    toolVersion: version,
    contentHash: content_hash,
    source: split < 0 ? '' : tool_id.slice(0, split),
    executor,
    category,
    tags,
    sideEffect: tool.side_effect ?? 'irreversible',
    grant: grantOf(context),
    trust: context.trust ?? trust,
    argumentFindings: context.argument_findings ?? [],
    ...(context.phase === undefined ? {} : { phase: context.phase }),
    ...documentOf(context),
  };
}

function documentOf({ document }: NonNullable<PolicyQuestionBody['context']>): Pick<PolicyQuestion, 'document'> {
  if (document === undefined) return {};
  return { document: { id: document.document_id, mode: document.access_mode ?? 'read' } };
}

function grantOf(context: NonNullable<PolicyQuestionBody['context']>): Grant {
  const { filesystem = [], network = [], credentials = [] } = context;
  return {
    filesystem,
    network,
    credentials,
    limits: {
      timeoutMs: context.timeout_ms ?? LIMITS.timeout_ms,
      cpuMillicores: context.cpu_millicores ?? LIMITS.cpu_millicores,
      memoryMb: context.memory_mb ?? LIMITS.memory_mb,
      outputBytesMax: LIMITS.output_bytes_max,
    },
  };
}
