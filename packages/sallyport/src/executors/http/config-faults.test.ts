import { expect, test } from 'vitest';
import type { ToolManifest } from '../../../api/schemas/tool-manifest.ts';
import type { HttpOperation } from '../../registry/http-operation.ts';
import { callOf } from '../conformance/executor-call.fixture.ts';
import { configFaults } from './config-faults.ts';

const PERMISSIONS = { network: [{ host: 'api.example.com', port: 443 }], credentials: ['KEY'] };
const ID = { property: 'id', name: 'id', in: 'path', style: 'simple', explode: false } as const;

function places(operation: Partial<HttpOperation>, permissions: ToolManifest['permissions'] = PERMISSIONS): string[] {
  const config = { base_url: 'https://api.example.com', method: 'GET', path: '/', ...operation };
  return configFaults(callOf({ executor: { kind: 'http', config }, permissions }).tool.manifest).map(
    ({ path }) => path,
  );
}

test('a whole operation has no faults', () => {
  const auth = [{ type: 'bearer', secret: 'KEY' }] satisfies HttpOperation['auth'];
  expect(places({ path: '/pets/{id}', parameters: [ID], auth, headers: { 'X-Version': '1' } })).toEqual([]);
  expect(places({ base_url: 'http://[::1]:8080/v1' }, { network: [{ host: '::1', port: 8080 }] })).toEqual([]);
});

test('what is missing or of the wrong type is told with its place', () => {
  expect(
    configFaults(callOf({ executor: { kind: 'http' } }).tool.manifest)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['/executor/config/base_url', '/executor/config/method', '/executor/config/path']);
  expect(places({ method: 'BREW' as never })).toEqual(['/executor/config/method']);
  expect(places({ base_url: 'ftp://api.example.com' })).toEqual(['/executor/config/base_url']);
  expect(places({ unknown: 1 } as never)).toEqual(['/executor/config/unknown']);
});

test.each(['https://api.example.com?x=1', 'https://u:p@api.example.com', 'https://{region}.example.com', 'https://'])(
  'the base URL %s is refused',
  (base_url) => expect(places({ base_url })).toEqual(['/executor/config/base_url']),
);

test('an address or secret that the permissions do not name is refused', () => {
  expect(places({ base_url: 'https://api.example.com:8443' })).toEqual(['/executor/config/base_url']);
  expect(places({}, {})).toEqual(['/executor/config/base_url']);
  expect(places({ auth: [{ type: 'basic', secret: 'OTHER' }] })).toEqual(['/executor/config/auth/0/secret']);
});

test.each(['/a/../b', '/a/%2E%2e/b', '/a?b', '/a#b', '/a b', '/a\\b'])('the path %s is refused', (path) => {
  expect(places({ path })).toEqual(['/executor/config/path']);
});

test('each place in the path has its parameter, and each parameter its place', () => {
  expect(places({ path: '/{id}' })).toEqual(['/executor/config/path']);
  const config = { base_url: 'https://api.example.com', method: 'GET', path: '/{id}' };
  const [fault] = configFaults(callOf({ executor: { kind: 'http', config }, permissions: PERMISSIONS }).tool.manifest);
  expect(fault?.hint).toBe(`Add ${JSON.stringify(ID)} to executor.config.parameters.`);
  expect(places({ parameters: [ID] })).toEqual(['/executor/config/path']);
});

test('headers that belong to the connection or carry credentials are refused', () => {
  const header = (name: string) => ({ property: 'h', name, in: 'header', style: 'simple', explode: false }) as const;
  for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'Authorization', 'bad name', 'x\r\ny']) {
    expect(places({ parameters: [header(name)] })).toEqual(['/executor/config/parameters/0/name']);
    expect(places({ headers: { [name]: 'x' } })).toEqual(['/executor/config/headers']);
  }
  expect(places({ headers: { 'X-Ok': 'a\r\nb' } })).toEqual(['/executor/config/headers']);
  expect(places({ accept: 'a\nb' })).toEqual(['/executor/config/accept']);
  const auth: HttpOperation['auth'] = [{ type: 'api_key', in: 'header', name: 'a b', secret: 'KEY' }];
  expect(places({ auth })).toEqual(['/executor/config/auth/0/name']);
});

test('TRACE is taken only as an operation that is never sent', () => {
  expect(places({ method: 'TRACE' })).toEqual(['/executor/config/method']);
  expect(places({ method: 'TRACE', not_callable: 'TRACE is not sent' })).toEqual([]);
});
