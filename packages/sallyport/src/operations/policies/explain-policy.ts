import { failure, isFailure } from '@sallyport/std/error/failure';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import {
  type PolicyExplanation,
  type PolicyQuestionBody,
  PolicyWhyRequest,
  PolicyWhyResponse,
  type RecordedDecision,
} from '../../../api/schemas/policy.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { sideEffectOf, type ToolVersion } from '../../domain/tool/tool-version.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { mayKeepPolicies } from './owns-policies.ts';
import { questionFrom } from './recorded-question.ts';

type Parts = Pick<OperationParts, 'policies' | 'records' | 'registry' | 'catalogTenant' | 'defaultTenant'>;

/** Events of one call that are searched. */
const EVENTS_MAX = 100;

/**
 * Explains which policies decided on a call and what would have to change: for a call on record, or for a hypothetical
 * one. A recorded decision is read from the record; the reasons come from the policies in force now.
 */
export const explainPolicy = operation({
  name: 'policies.explain',
  summary: 'Say which policies decided on a call, and what would have to change',
  method: 'POST',
  path: '/v1/policies/explanation',
  status: 200,
  access: 'viewer',
  input: PolicyWhyRequest,
  output: PolicyWhyResponse,
  run:
    (parts: Parts) =>
    async ({ invocation_id, question }, asker) => {
      if ((invocation_id === undefined) === (question === undefined))
        return failure('E3801', 'Name an invocation_id or ask a question, one of the two.');
      if (question !== undefined) return explainQuestion(parts, asker, question);
      const { tenantId } = asker.principal;
      const id = invocation_id ?? '';
      const record = await parts.records.findInvocation(tenantId, id);
      if (record === undefined) return failure('E3809', `There is no invocation ${id} that you may see.`);
      const stored = await parts.records.events(tenantId, { invocation_id: id, limit: EVENTS_MAX });
      return explainRecord(
        parts,
        asker,
        record,
        stored.map(({ event }) => event),
      );
    },
});

async function explainQuestion(parts: Parts, asker: Asker, asked: PolicyQuestionBody): Promise<PolicyWhyResponse> {
  const { tenantId } = asker.principal;
  const mayAskForAll = mayKeepPolicies(parts, asker) === undefined;
  const tenant = (mayAskForAll ? asked.principal?.tenant_id : undefined) ?? tenantId;
  const found = toolOf(parts, tenant, asked.tool.tool_id, asked.tool.version);
  const tool = found === undefined ? asked.tool : { ...toolFacts(found), ...asked.tool };
  const engines = await parts.policies.explain({
    ...asked,
    principal: { ...asked.principal, tenant_id: tenant },
    tool,
  });
  const assumed = found === undefined ? [`There is no tool ${asked.tool.tool_id}: what it is was taken as asked.`] : [];
  return {
    tool_id: asked.tool.tool_id,
    ...verdict(engines),
    still_so: false,
    assumed,
    engines: shown(engines, mayAskForAll),
  };
}

async function explainRecord(
  parts: Parts,
  asker: Asker,
  record: InvocationRecord,
  events: readonly CloudEvent[],
): Promise<PolicyWhyResponse> {
  const recorded = decisionIn(events);
  const found = toolOf(parts, record.tenantId, record.toolId, record.toolVersion);
  const { question, assumed } = questionFrom(record, events, found === undefined ? undefined : toolFacts(found));
  const engines = await parts.policies.explain(question);
  const now = verdict(engines);
  const { allowed, ask } = recorded ?? now;
  const { code } = record.failure ?? {};
  const unasked =
    recorded === undefined && code !== undefined && code !== 'E3210' && record.state === 'DENIED'
      ? [`The call was refused with ${code}, perhaps before any policy was asked.`]
      : [];
  return {
    invocation_id: record.invocationId,
    tool_id: record.toolId,
    allowed,
    ...(ask === undefined ? {} : { ask }),
    ...(recorded === undefined ? {} : { recorded }),
    still_so: recorded?.version === parts.policies.version(),
    assumed: [...unasked, ...assumed],
    engines: shown(engines, mayKeepPolicies(parts, asker) === undefined),
  };
}

/** The last decision on record: a call with edited arguments is decided on again. */
function decisionIn(events: readonly CloudEvent[]): RecordedDecision | undefined {
  return events.map(({ data }) => data['policy_decision'] as RecordedDecision | undefined).findLast(Boolean);
}

function verdict(engines: readonly PolicyExplanation[]): { allowed: boolean; ask?: boolean } {
  const enforced = engines.filter(({ mode }) => mode === 'enforce');
  const allowed = enforced.every((engine) => engine.allowed);
  const ask = !allowed && enforced.every((engine) => engine.allowed || engine.ask === true);
  return { allowed, ...(ask ? { ask } : {}) };
}

/** Texts and conditions of policies may name every tenant: others than their keepers see by name which ones decided. */
function shown(engines: readonly PolicyExplanation[], all: boolean): PolicyExplanation[] {
  if (all) return [...engines];
  return engines.map((engine) => ({
    ...engine,
    decided: engine.decided.map(({ name, effect, mode }) => ({ name, effect, mode, held: [], unmet: [] })),
    nearest: [],
    changes: engine.changes.length === 0 ? [] : [engine.decided.length === 0 ? `No policy permits it. ${ASK}` : ASK],
  }));
}

const ASK = 'Ask who keeps the policies.';

function toolOf(
  { registry, catalogTenant }: Parts,
  tenantId: string,
  toolId: string,
  version: string | undefined,
): ToolVersion | undefined {
  for (const tenant of [tenantId, catalogTenant]) {
    const found = registry.find(tenant, toolId, version);
    if (!isFailure(found)) return found.tool;
  }
  return undefined;
}

function toolFacts({ manifest, contentHash }: ToolVersion): PolicyQuestionBody['tool'] {
  return {
    tool_id: manifest.tool_id,
    version: manifest.version,
    content_hash: contentHash,
    executor: manifest.executor.kind,
    category: manifest.category ?? '',
    tags: [...(manifest.tags ?? [])],
    side_effect: sideEffectOf(manifest),
  };
}
