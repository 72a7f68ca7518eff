import type { EntityJson, StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyQuestion } from '../../policy-engine.port.ts';

/** A question in Cedar's terms; the names are those of cedar-schema.ts. */
export function cedarRequest(
  question: PolicyQuestion,
): Pick<StatefulAuthorizationCall, 'principal' | 'action' | 'resource' | 'context' | 'entities'> {
  const { principal: who, grant, source } = question;
  const tenant = { type: 'Tenant', id: who.tenantId };
  const agent = { type: 'Agent', id: who.agentDid };
  const tool = { type: 'Tool', id: question.toolId };
  const from = { type: 'Source', id: source };
  const paths = (mode: 'ro' | 'rw') => grant.filesystem.filter((one) => one.mode === mode).map(({ path }) => path);
  const entities: EntityJson[] = [
    { uid: tenant, attrs: {}, parents: [] },
    { uid: agent, attrs: agentAttributes(question), parents: [tenant] },
    { uid: tool, attrs: toolAttributes(question), parents: source === '' ? [tenant] : [from, tenant] },
  ];
  if (source !== '') entities.push({ uid: from, attrs: {}, parents: [tenant] });
  return {
    principal: agent,
    action: { type: 'Action', id: 'invoke' },
    resource: tool,
    context: {
      reads: [...paths('ro'), ...paths('rw')],
      writes: paths('rw'),
      hosts: grant.network.map(({ host }) => host),
      ports: grant.network.map(({ port }) => port),
      addresses: grant.network.map(({ host, port }) => `${host}:${port}`),
      credentials: [...grant.credentials],
      timeoutMs: Math.ceil(grant.limits.timeoutMs),
      cpuMillicores: Math.ceil(grant.limits.cpuMillicores),
      memoryMb: Math.ceil(grant.limits.memoryMb),
    },
    entities,
  };
}

function agentAttributes({ principal }: PolicyQuestion): EntityJson['attrs'] {
  const { agentDid, tenantId, userDid, sessionId, roles } = principal;
  return {
    did: agentDid,
    tenant: tenantId,
    ...(userDid === undefined ? {} : { user: userDid }),
    ...(sessionId === undefined ? {} : { session: sessionId }),
    roles: [...roles],
  };
}

function toolAttributes(question: PolicyQuestion): EntityJson['attrs'] {
  const { toolId, toolVersion, contentHash, source, executor, category, tags, sideEffect } = question;
  return { id: toolId, version: toolVersion, contentHash, source, executor, category, tags: [...tags], sideEffect };
}
