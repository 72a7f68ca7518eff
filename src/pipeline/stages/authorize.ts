import { type Failure, failure, isFailure } from '../../domain/error/failure.ts';
import type { Grant } from '../../domain/invocation/grant.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import { checkPathArguments } from '../../permission/check-path-arguments.ts';
import type { PolicyDecision, PolicyQuestion } from '../../permission/policy-engine.port.ts';
import { agreesWithContext, coversTool } from '../../permission/token-scope.ts';
import type { Authorized, CallRequest, Resolved, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import type { Stage, StageEnd } from '../stage.ts';
import { callGrant } from './call-grant.ts';
import { overriddenGrant } from './overridden-grant.ts';

type Needs = CallRequest & Resolved & Validated;
type Parts = Pick<PipelineParts, 'executors' | 'policy' | 'limits' | 'agentContext'>;

/** Stage 4: what the call may touch is what token, manifest and agent context all allow, and a policy permits it (PRM-03, PRM-04). */
export function authorize(parts: Parts): Stage<Needs, Authorized> {
  const grantOf = callGrant({ layer: parts.limits.layer, agentContext: parts.agentContext });
  return {
    name: 'authorize',
    reaches: 'AUTHORIZED',
    run(call) {
      const { request, claims, tool } = call;
      const { tool_id, version } = tool.manifest;
      const refused = coversTool(claims, tool_id, version) ?? agreesWithContext(claims, request.agent_context);
      if (refused !== undefined) return refused;
      const executor = parts.executors.executorOf(tool);
      if (isFailure(executor)) return executor;
      const granted = grantOf(call);
      if (isFailure(granted)) return granted;
      const grant = overriddenGrant(granted, call.overrides);
      const outside = checkPathArguments(tool.manifest, call.parameters, grant);
      const decide = (fault: Failure | undefined): StageEnd<Authorized> | Promise<StageEnd<Authorized>> => {
        if (fault !== undefined) return fault;
        const decision = parts.policy.decide(questionOf(call, grant));
        const end = (made: PolicyDecision | Failure): StageEnd<Authorized> => verdict(made) ?? { grant, executor };
        return decision instanceof Promise ? decision.then(end) : end(decision);
      };
      return outside instanceof Promise ? outside.then(decide) : decide(outside);
    },
  };
}

function questionOf({ request, principal, tool }: Needs, grant: Grant): PolicyQuestion {
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
    trust: principal.trust ?? 'untrusted',
    ...(phase === undefined ? {} : { phase }),
  };
}

function verdict(decision: PolicyDecision | Failure): Failure | undefined {
  if (isFailure(decision)) return decision;
  if (decision.allowed) return undefined;
  const by = decision.policies.length === 0 ? 'no policy permits it' : `forbidden by ${decision.policies.join(', ')}`;
  return failure('E3210', `The policy does not allow this call: ${by}.`, { details: { policies: decision.policies } });
}
