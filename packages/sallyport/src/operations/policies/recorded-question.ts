import type { Role, TrustLevel } from '../../../api/schemas/capability-token.ts';
import type { CloudEvent } from '../../../api/schemas/cloud-event.ts';
import type { InvocationPhase } from '../../../api/schemas/invocation.ts';
import type { PolicyQuestionBody } from '../../../api/schemas/policy.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';

/** The question to the policies about a call, as far as it is on record. */
export interface RecordedQuestion {
  readonly question: PolicyQuestionBody;
  /** Members that are not on record, and the values assumed instead. */
  readonly assumed: string[];
}

type Facts = Readonly<Record<string, unknown>>;

/** Rebuilds the question from the record and the events of a call. */
export function questionFrom(
  record: InvocationRecord,
  events: readonly CloudEvent[],
  tool: PolicyQuestionBody['tool'] | undefined,
): RecordedQuestion {
  const facts: Facts = Object.assign({}, ...events.map(({ data }) => data)) as Facts;
  const assumed: string[] = [];
  const known = <T>(name: string, otherwise: string): T | undefined => {
    const value = facts[name] as T | undefined;
    if (value === undefined) assumed.push(otherwise);
    return value;
  };
  const roles = known<Role[]>('roles', 'The roles of the token are not on record; agent was taken.');
  const trust = known<TrustLevel>('trust', 'The trust of the call is not on record; trusted was taken.');
  const { phase, argument_findings: findings } = facts as {
    readonly phase?: InvocationPhase;
    readonly argument_findings?: NonNullable<PolicyQuestionBody['context']>['argument_findings'];
  };
  if (tool === undefined) assumed.push('The tool version is gone; only its id and side effect are known.');
  assumed.push('The limits of the call are not on record; those of a tool that names none were taken.');
  const capabilities = events.map(({ data }) => data['capabilities']).findLast(isFilledList) ?? [];
  const question: PolicyQuestionBody = {
    principal: {
      tenant_id: record.tenantId,
      agent_did: record.agentDid,
      ...(record.userDid === undefined ? {} : { user_did: record.userDid }),
      ...(record.sessionId === undefined ? {} : { session_id: record.sessionId }),
      ...(roles === undefined ? {} : { roles }),
      ...(trust === undefined ? {} : { trust }),
    },
    tool: tool ?? {
      tool_id: record.toolId,
      ...(record.toolVersion === undefined ? {} : { version: record.toolVersion }),
      ...(record.contentHash === undefined ? {} : { content_hash: record.contentHash }),
      ...(record.sideEffect === undefined ? {} : { side_effect: record.sideEffect }),
    },
    context: {
      ...touched(capabilities),
      ...(findings === undefined ? {} : { argument_findings: findings }),
      ...(phase === undefined ? {} : { phase }),
      ...(trust === undefined ? {} : { trust }),
    },
  };
  return { question, assumed };
}

const isFilledList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.length > 0;

/**
 * The resources that a call could touch, from the short texts of its events (`filesystem:rw:/work`,
 * `network:host:443`).
 */
function touched(capabilities: readonly string[]): NonNullable<PolicyQuestionBody['context']> {
  const of = (kind: string): string[] =>
    capabilities.filter((one) => one.startsWith(`${kind}:`)).map((one) => one.slice(kind.length + 1));
  return {
    filesystem: of('filesystem').map((one) => ({ mode: one.startsWith('rw:') ? 'rw' : 'ro', path: one.slice(3) })),
    network: of('network').map((one) => {
      const at = one.lastIndexOf(':');
      return { host: one.slice(0, at), port: Number(one.slice(at + 1)) };
    }),
    credentials: of('credential'),
  };
}
