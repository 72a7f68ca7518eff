import type { CedarValueJson, EntityJson, StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/web';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import type { AttributesUsed } from './attributes-used.ts';

/** A question in Cedar's terms. */
export type CedarRequest = Pick<
  StatefulAuthorizationCall,
  'principal' | 'action' | 'resource' | 'context' | 'entities'
>;

type Attributes = Record<string, CedarValueJson>;
type Readers = Readonly<Record<string, (question: PolicyQuestion) => CedarValueJson | undefined>>;

const ACTION = { type: 'Action', id: 'invoke' };

/** A question with only the attributes in use; the names are those of cedar-schema.ts. */
export function cedarRequest(question: PolicyQuestion, used: AttributesUsed): CedarRequest {
  const agent = { type: 'Agent', id: question.principal.agentDid };
  const tool = { type: 'Tool', id: question.toolId };
  const who = pick(PRINCIPAL, used.principal, question);
  const what = pick(RESOURCE, used.resource, question);
  const entities: EntityJson[] = [];
  if (used.parents || !isEmpty(who))
    entities.push({ uid: agent, attrs: who, parents: used.parents ? principalParents(question).map(entity) : [] });
  if (used.parents || !isEmpty(what))
    entities.push({ uid: tool, attrs: what, parents: used.parents ? resourceParents(question).map(entity) : [] });
  return { principal: agent, action: ACTION, resource: tool, context: pick(CONTEXT, used.context, question), entities };
}

const isEmpty = (attributes: Attributes): boolean => Object.keys(attributes).length === 0;

/** Type and id of an entity. */
export type EntityName = readonly [type: string, id: string];

const entity = ([type, id]: EntityName) => ({ type, id });

/** Groups of an agent. */
export const principalParents = ({ principal: { tenantId, userDid } }: PolicyQuestion): readonly EntityName[] =>
  userDid === undefined
    ? [['Tenant', tenantId]]
    : [
        ['User', userDid],
        ['Tenant', tenantId],
      ];

/** Groups of a tool. */
export function resourceParents({ principal, source, executor }: PolicyQuestion): readonly EntityName[] {
  const tenant: EntityName = ['Tenant', principal.tenantId];
  if (source === '') return [tenant];
  return executor === 'mcp' ? [['Source', source], ['Server', source], tenant] : [['Source', source], tenant];
}

function pick(readers: Readers, names: ReadonlySet<string> | 'all', question: PolicyQuestion): Attributes {
  const picked: Attributes = {};
  for (const name of names === 'all' ? Object.keys(readers) : names) {
    const value = readers[name]?.(question);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

const PRINCIPAL: Readers = {
  did: ({ principal }) => principal.agentDid,
  tenant: ({ principal }) => principal.tenantId,
  user: ({ principal }) => principal.userDid,
  session: ({ principal }) => principal.sessionId,
  roles: ({ principal }) => [...principal.roles],
  trust: ({ principal }) => principal.trust ?? 'untrusted',
};

const RESOURCE: Readers = {
  id: ({ toolId }) => toolId,
  version: ({ toolVersion }) => toolVersion,
  contentHash: ({ contentHash }) => contentHash,
  source: ({ source }) => source,
  executor: ({ executor }) => executor,
  category: ({ category }) => category,
  tags: ({ tags }) => [...tags],
  sideEffect: ({ sideEffect }) => sideEffect,
};

const CONTEXT: Readers = {
  phase: ({ phase }) => phase,
  trust: ({ trust }) => trust,
  argumentFindings: ({ argumentFindings }) => [...argumentFindings],
  reads: (question) => paths(question),
  readsUnder: (question) => [...new Set(paths(question).flatMap(withFoldersAbove))],
  writes: (question) => paths(question, 'rw'),
  writesUnder: (question) => [...new Set(paths(question, 'rw').flatMap(withFoldersAbove))],
  hosts: ({ grant }) => grant.network.map(({ host }) => host),
  domains: ({ grant }) => [...new Set(grant.network.flatMap(({ host }) => withDomainsAbove(host)))],
  ports: ({ grant }) => grant.network.map(({ port }) => port),
  addresses: ({ grant }) => grant.network.map(({ host, port }) => `${host}:${port}`),
  credentials: ({ grant }) => [...grant.credentials],
  timeoutMs: ({ grant }) => Math.ceil(grant.limits.timeoutMs),
  cpuMillicores: ({ grant }) => Math.ceil(grant.limits.cpuMillicores),
  memoryMb: ({ grant }) => Math.ceil(grant.limits.memoryMb),
  document: ({ document }) => document?.id,
  documentMode: ({ document }) => document?.mode,
};

const paths = ({ grant }: PolicyQuestion, mode?: 'rw'): string[] =>
  grant.filesystem.filter((one) => mode === undefined || one.mode === mode).map(({ path }) => path);

/** `/a/b` is under `/a/b`, `/a` and `/`. */
function withFoldersAbove(path: string): string[] {
  const found = [path];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) found.push(path.slice(0, at));
  return path === '/' ? found : [...found, '/'];
}

/** `api.example.com` is under itself, `example.com` and `com`; an IPv4 address is only under itself. */
function withDomainsAbove(host: string): string[] {
  if (/^[0-9.]+$|:/.test(host)) return [host];
  const found = [host];
  for (let at = host.indexOf('.'); at !== -1; at = host.indexOf('.', at + 1)) found.push(host.slice(at + 1));
  return found;
}
