import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import type { WantedDocument } from '../../domain/document/given-document.ts';
import { judgedArguments } from '../../domain/invocation/call-environment.ts';
import type { GateDecision } from '../../domain/invocation/gate-decision.ts';
import { sideEffectOf } from '../../domain/tool/tool-version.ts';
import { environmentRefusal } from '../../executors/call-environment.ts';
import type { JudgedCall } from '../../permission/adversarial-gate.ts';
import { checkPathArguments } from '../../permission/check-path-arguments.ts';
import type { PolicyDecision } from '../../permission/policy-engine.port.ts';
import type { Admitted, Authorized, CallFact, CallRequest, Noted, Resolved, Validated } from '../call.ts';
import type { PipelineParts } from '../parts.ts';
import { refusedBy, type Stage } from '../stage.ts';
import { callGrant } from './grant/call-grant.ts';
import { overriddenGrant } from './grant/overridden-grant.ts';
import { policyQuestion } from './grant/policy-question.ts';
import { tokenRefusal } from './grant/token-refusal.ts';
import {
  checkNamedDocuments,
  checkWantedDocuments,
  type DocumentJudges,
  isDocumentTool,
} from './prepared/document-access.ts';
import { forgedDocuments, wantedDocuments } from './prepared/wanted-documents.ts';

type Needs = CallRequest & Noted & Admitted & Resolved & Validated;
type Parts = Pick<PipelineParts, 'executors' | 'trust' | 'gate' | 'limits' | 'agentContext'> & DocumentJudges;

/**
 * Checks that the token is for this call; computes what token, manifest and agent context together allow; requires that
 * a policy permits the call, and the documents that it names to the document server, and, when there is a gate, that the
 * language model does not object (PRM-03, PRM-04, PRM-08, DOC-04).
 */
export function authorize(parts: Parts): Stage<Needs, Authorized> {
  const { executors, policy, gate, limits, agentContext, trust: rules } = parts;
  const { layer, laterTimeoutMsMax } = limits;
  const grantOf = callGrant({ layer, agentContext, laterTimeoutMsMax });
  return {
    name: 'authorize',
    reaches: 'AUTHORIZED',
    async run(call, ongoing) {
      const { principal, tool, overrides } = call;
      const refused = tokenRefusal(call);
      if (refused !== undefined) return refused;
      const executor = executors.executorOf(tool);
      if (isFailure(executor)) return executor;
      const { environment, trust_level: asked } = call.request.execution_options ?? {};
      const variables =
        environment === undefined ? undefined : environmentRefusal(executor, tool.manifest, environment);
      if (variables !== undefined) return variables;
      const wanted = wantedBy(call, parts);
      if (isFailure(wanted)) return wanted;
      // Comes before every policy: what an executor never runs, no policy can permit (EXE-02).
      const screened = executor.screen?.(tool, call.parameters);
      if (screened !== undefined) return screened;
      const granted = grantOf(call);
      if (isFailure(granted)) return granted;
      const grant = overriddenGrant(granted, overrides);
      const trust = rules.effective(principal.trust, tool.manifest, asked);
      let established: Partial<Authorized> = { trust };
      try {
        const outside = await checkPathArguments(tool.manifest, call.parameters, grant);
        if (outside !== undefined) return { refused: outside, established };
        const policyDecision = await policy.decide(policyQuestion(call, grant, trust));
        if (isFailure(policyDecision)) return { refused: policyDecision, established };
        established = { trust, policyDecision };
        const forbidden = policyRefusal(policyDecision);
        if (forbidden !== undefined) return { refused: forbidden, established };
        const note = (fact: CallFact): void => {
          established = { ...established, facts: [...(established.facts ?? call.facts), fact] };
        };
        const isOfDocuments = isDocumentTool(parts, call);
        if (isOfDocuments || wanted.length > 0) {
          const judged = { ...call, grant, trust };
          if (isOfDocuments) await checkNamedDocuments(parts, judged, note);
          await checkWantedDocuments(parts, judged, wanted, note);
        }
        const gateDecision = await gate?.judge(caseOf(call), ongoing.controller.signal);
        established = { trust, policyDecision, gateDecision };
        const objection = gateDecision === undefined ? undefined : gateRefusal(gateDecision);
        if (objection !== undefined) return { refused: objection, established };
        return { grant, executor, trust, policyDecision, gateDecision };
      } catch (thrown) {
        return refusedBy(thrown, established);
      }
    },
  };
}

/** The documents of the call; a refusal for what brings no documents, before a person is asked about the call. */
function wantedBy(
  { request, tool: { manifest }, parameters }: Needs,
  { documents }: DocumentJudges,
): readonly WantedDocument[] | Failure {
  const wanted = wantedDocuments(request, manifest, documents);
  return isFailure(wanted) ? wanted : (forgedDocuments(manifest, parameters) ?? wanted);
}

/** A policy that wants a confirmation is not a refusal: `approve` handles it. */
function policyRefusal({ allowed, ask, policies }: PolicyDecision): Failure | undefined {
  if (allowed || ask === true) return undefined;
  const by = policies.length === 0 ? 'no policy permits it' : `forbidden by ${policies.join(', ')}`;
  return failure('E3210', `The policy does not allow this call: ${by}.`, { details: { policies } });
}

/** The call as it is shown to the language model. */
function caseOf({ request, tool, parameters }: Needs): JudgedCall {
  const { phase, claim_source } = request.execution_options ?? {};
  return {
    toolId: tool.manifest.tool_id,
    toolVersion: tool.manifest.version,
    sideEffect: sideEffectOf(tool.manifest),
    ...(phase === undefined ? {} : { phase }),
    ...(claim_source === undefined ? {} : { claimSource: claim_source }),
    parameters: judgedArguments(parameters, request),
  };
}

/** The caller learns that the gate refused, but not the policy or the words, which would help to get around it. */
function gateRefusal({ allowed, answer, because }: GateDecision): Failure | undefined {
  if (allowed) return undefined;
  if (answer === 'DENY')
    return failure('E3210', "The operator's policies speak against this call. Do not repeat it.", {
      details: { gate: 'adversarial' },
    });
  return failure('E3206', 'The call has to be judged before it runs, and the judge gave no usable answer.', {
    details: { gate: 'adversarial', because },
  });
}
