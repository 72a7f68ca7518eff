import { expect, test } from 'vitest';
import { OPERATIONS, type OperationEntry } from '../packages/sallyport/src/operations/catalogue.ts';

// What clients are written against. A change here changes the contract and gets a line in the changelog; new lines are free.
const PINNED = `
tool.invoke POST /v1/invocations 200 token
tool.status GET /v1/invocations/{invocation_id} 200 token
tool.cancel DELETE /v1/invocations/{invocation_id} 200 token
tool.list GET /v1/tools 200 token
tools.get GET /v1/tools/{tool_id} 200 token
tools.manifests GET /v1/manifests 200 token
tools.register POST /v1/tools 201 operator
tools.remove DELETE /v1/tools/{tool_id} 200 operator
tools.import-openapi POST /v1/imports/openapi 200 operator
upstreams.list GET /v1/upstreams 200 viewer
upstreams.add POST /v1/upstreams 201 operator
upstreams.import POST /v1/imports/mcp-servers 200 operator
upstreams.remove DELETE /v1/upstreams/{name} 200 operator
token.mint POST /v1/tokens 201 operator
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
