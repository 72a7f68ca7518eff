import { addressOf, lifetimeIn, postQuestion, reasonsIn, unusable } from '../../policies/post-question.ts';
import { resourceDocument } from '../../policies/question-document.ts';
import type { PolicyEngine, PolicyQuestion } from '../../policy-engine.port.ts';
import type { AbacSettings } from './settings.ts';

/**
 * The attribute-based access control of a data layer, asked by `POST /api/v1/abac/check-permission` (000 §4.2.2).
 * @throws ToolLayerError E3801 for an endpoint that is no http address
 */
export function createAbacPolicyEngine({ endpoint, timeoutMs }: AbacSettings): PolicyEngine {
  const base = addressOf('permission.abac_endpoint', endpoint.endsWith('/') ? endpoint : `${endpoint}/`);
  const url = new URL('api/v1/abac/check-permission', base);
  return {
    name: 'abac',
    version: () => url.href,
    async decide(question) {
      const answer = await postQuestion({ engine: 'abac', url, body: requestOf(question), timeoutMs });
      const { allowed, reason, cache_ttl_seconds } = (answer ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof allowed !== 'boolean') throw unusable('abac', 'did not say whether it allows the call');
      const reasons = reasonsIn(reason);
      const cacheTtlSeconds = lifetimeIn(cache_ttl_seconds);
      return {
        allowed,
        policies: ['abac:check-permission'],
        ...(reasons.length === 0 ? {} : { reasons }),
        ...(cacheTtlSeconds === undefined ? {} : { cacheTtlSeconds }),
      };
    },
  };
}

function requestOf(question: PolicyQuestion): Record<string, unknown> {
  const { tenantId, agentDid, userDid, sessionId, roles, trust } = question.principal;
  return {
    agent_id: agentDid,
    ...resourceOf(question),
    context: {
      tenant_id: tenantId,
      ...(userDid === undefined ? {} : { user_did: userDid }),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      roles,
      trust_level: trust ?? 'untrusted',
      ...(question.document === undefined ? {} : { tool_id: question.toolId }),
      tool_version: question.toolVersion,
      ...resourceDocument(question),
      // The names of 003, task 2; its `credentials` are those of 000.
      filesystem_paths: question.grant.filesystem.map(({ path }) => path),
      network_endpoints: question.grant.network.map(endpointOf),
    },
  };
}

/** A document is a resource of its own, read by the tool that the context names (G-013). */
function resourceOf({ document, toolId }: PolicyQuestion): Record<string, unknown> {
  if (document === undefined) return { resource_type: 'tool', resource_id: toolId, action: 'execute' };
  return { resource_type: 'document', resource_id: document.id, action: document.mode };
}

/** A granted host and port as a URL. The scheme is that of the port: http for 80, https for any other. */
function endpointOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host.includes(':') ? `[${host}]` : host;
  if (port === 80) return `http://${name}`;
  return port === 443 ? `https://${name}` : `https://${name}:${port}`;
}
