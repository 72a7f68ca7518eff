import { addressOf, lifetimeIn, postQuestion, reasonsIn, unusable } from '../../policies/post-question.ts';
import { questionDocument } from '../../policies/question-document.ts';
import type { PolicyDecision, PolicyEngine } from '../../policy-engine.port.ts';
import type { OpaSettings } from './settings.ts';

/** Lifetime of a denial caused by an undefined policy, in seconds: it may be defined in a moment. */
const UNDEFINED_TTL_SECONDS = 5;

/**
 * Open Policy Agent over its REST API: the question is the `input` document, the result `true`, `false` or an object
 * with `allow`. A missing result means that the policy is not defined, which denies (PRM-04).
 * @throws ToolLayerError E3801 for an endpoint that is no http address
 */
export function createOpaPolicyEngine({ endpoint, timeoutMs }: OpaSettings): PolicyEngine {
  const url = addressOf('permission.opa_endpoint', endpoint);
  const policy = `opa:${url.pathname.replace(/^\/v1\/data\//, '').replace(/^\/+/, '')}`;
  return {
    name: 'opa',
    // Its policies change without our knowledge; decisions live as long as the cache allows.
    version: () => url.href,
    async decide(question) {
      const answer = await postQuestion({ engine: 'opa', url, body: { input: questionDocument(question) }, timeoutMs });
      if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
        throw unusable('opa', 'sent no object');
      return decisionOf(policy, (answer as { readonly result?: unknown }).result);
    },
  };
}

function decisionOf(policy: string, result: unknown): PolicyDecision {
  if (result === undefined)
    return {
      allowed: false,
      policies: [],
      reasons: [`${policy} is not defined`],
      cacheTtlSeconds: UNDEFINED_TTL_SECONDS,
    };
  if (typeof result === 'boolean') return { allowed: result, policies: [policy] };
  const { allow, reasons, reason, cache_ttl_seconds } = (result ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof allow !== 'boolean') throw unusable('opa', 'sent a result that is neither true nor false');
  const stated = reasonsIn(reasons ?? reason);
  const cacheTtlSeconds = lifetimeIn(cache_ttl_seconds);
  return {
    allowed: allow,
    policies: [policy],
    ...(stated.length === 0 ? {} : { reasons: stated }),
    ...(cacheTtlSeconds === undefined ? {} : { cacheTtlSeconds }),
  };
}
