import type { PolicyQuestion } from '../policy-engine.port.ts';

/** A question in the form for policy servers, with the names of capability tokens and manifests (000 §4.1.1). */
export function questionDocument(question: PolicyQuestion): Record<string, unknown> {
  const { principal } = question;
  return {
    agent_did: principal.agentDid,
    tenant_id: principal.tenantId,
    ...(principal.userDid === undefined ? {} : { user_did: principal.userDid }),
    ...(principal.sessionId === undefined ? {} : { session_id: principal.sessionId }),
    roles: principal.roles,
    trust_level: principal.trust ?? 'untrusted',
    tool_id: question.toolId,
    tool_version: question.toolVersion,
    operation: question.document?.mode ?? 'execute',
    ...resourceDocument(question),
  };
}

/** The part of a question beyond principal and tool. */
export function resourceDocument(question: PolicyQuestion): Record<string, unknown> {
  const { grant, phase, document } = question;
  const { timeoutMs, cpuMillicores, memoryMb, outputBytesMax } = grant.limits;
  return {
    content_hash: question.contentHash,
    source: question.source,
    executor: question.executor,
    category: question.category,
    tags: question.tags,
    side_effect: question.sideEffect,
    trust: question.trust,
    argument_findings: question.argumentFindings,
    ...(phase === undefined ? {} : { phase }),
    ...(document === undefined ? {} : { document: { document_id: document.id, access_mode: document.mode } }),
    filesystem: grant.filesystem.map(({ path, mode }) => ({ path, mode })),
    network: grant.network.map(({ host, port }) => ({ host, port })),
    credentials: grant.credentials,
    limits: {
      timeout_ms: timeoutMs,
      cpu_millicores: cpuMillicores,
      memory_mb: memoryMb,
      output_bytes_max: outputBytesMax,
    },
  };
}
