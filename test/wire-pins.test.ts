import { expect, test } from 'vitest';
import { OPERATIONS, type OperationEntry } from '../packages/sallyport/src/operations/catalogue.ts';

// Operations as clients use them. A change here changes the contract and gets a line in the changelog; new lines may be
// added.
const PINNED = `
tools.invoke POST /v1/invocations 200 token
invocations.get GET /v1/invocations/{invocation_id} 200 token
invocations.cancel DELETE /v1/invocations/{invocation_id} 200 token
tools.list GET /v1/tools 200 token
tools.get GET /v1/tools/{tool_id} 200 token
tools.manifests GET /v1/manifests 200 token
tools.register POST /v1/tools 201 operator
tools.remove DELETE /v1/tools/{tool_id} 200 operator
tools.import-openapi POST /v1/imports/openapi 200 operator
upstreams.list GET /v1/upstreams 200 viewer
upstreams.add POST /v1/upstreams 201 operator
upstreams.import POST /v1/imports/mcp-servers 200 operator
upstreams.remove DELETE /v1/upstreams/{name} 200 operator
tokens.mint POST /v1/tokens 201 operator
audit.query GET /v1/audit 200 viewer
audit.verify GET /v1/audit/verification 200 viewer
health GET /healthz 200 open
`;

const ENTRIES = Object.entries(OPERATIONS) as [string, OperationEntry][];

test('the operations stay where clients look for them', () => {
  const lines = ENTRIES.map(([name, { method, path, status, access }]) =>
    [name, method, path, status, access].join(' '),
  );
  expect(lines).toEqual(expect.arrayContaining(PINNED.trim().split('\n')));
});

// The rule is in docs/operations.md. Exceptions: nouns without a plural, and operations with an address outside of /v1.
const NAME = /^(?:(?:[a-z]+(?:-[a-z]+)*s|audit|availability|visibility)\.[a-z]+(?:-[a-z]+)*|health)$/;
const ROUTE = /^\/v1(?:\/[a-z]+(?:-[a-z]+)*)+(?:\/\{[a-z_]+\}(?:\/[a-z]+(?:-[a-z]+)*)?)?$/;
const ELSEWHERE: readonly string[] = ['health', 'keys.published'];
/** Operations whose route has another noun, because their subject belongs to many objects or has ids of its own. */
const OWN_NOUN: Readonly<Record<string, string>> = {
  'approvals.rules': 'approval-rules',
  'approvals.revoke-rule': 'approval-rules',
  'approvals.delegations': 'approval-delegations',
  'approvals.end-delegation': 'approval-delegations',
  'tools.manifests': 'manifests',
  'upstreams.quarantine': 'quarantine',
};
/** Verbs in operation names that are also nouns. */
const NOUNS_TOO: readonly string[] = ['login', 'reload', 'restart', 'sunset', 'test'];

test('each operation is called by a plural noun and what is done with it, in kebab-case', () => {
  expect(ENTRIES.map(([name]) => name).filter((name) => !NAME.test(name))).toEqual([]);
});

test('each route is plural nouns, at most one id, and a noun for what is made of it', () => {
  const others = ENTRIES.filter(([name]) => !ELSEWHERE.includes(name));
  expect(others.filter(([, { path }]) => !ROUTE.test(path))).toEqual([]);
  const verbs = others.filter(([name, { method, path }]) => {
    const [verb, last] = [name.split('.')[1] ?? '', path.split('/').at(-1) ?? ''];
    return method === 'POST' && verb === last && !NOUNS_TOO.includes(verb);
  });
  expect(verbs).toEqual([]);
});

test('what is read or deleted stands under the noun of its operation', () => {
  for (const [name, { method, path }] of ENTRIES) {
    if (method === 'POST' || ELSEWHERE.includes(name)) continue;
    expect(path.split('/')[2], name).toBe(OWN_NOUN[name] ?? name.split('.')[0]);
  }
});

test('no two operations share method and path', () => {
  const places = ENTRIES.map(([, { method, path }]) => `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`);
  expect(new Set(places).size).toBe(places.length);
});

test('each member in a path is a required member of the input', () => {
  for (const [name, { path, input }] of ENTRIES) {
    const members = [...path.matchAll(/\{([^}]*)\}/g)].map(([, member]) => member);
    const { required = [] } = input as { required?: readonly string[] };
    expect(
      members.filter((member) => !required.includes(member ?? '')),
      name,
    ).toEqual([]);
  }
});
