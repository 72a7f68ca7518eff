import { describe, expect, test } from 'vitest';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import { readSettings } from '../../read-settings.ts';
import type { Settings } from '../../settings.ts';
import { machineBounds } from './machine-bounds.ts';

const bounds = (given: Partial<Settings> = {}) =>
  machineBounds(readSettings({ environment: {}, given: { 'agent.mounts': ['/job:rw', '/data:ro'], ...given } }));

const tool = (executor: ToolManifest['executor'], more: Partial<ToolManifest> = {}, tenantId = 'guest') =>
  ({ tenantId, manifest: { tool_id: 't', executor, ...more } }) as ToolVersion;
const upstream = (transport: object): UpstreamDefinition => ({ name: 'server', transport }) as UpstreamDefinition;
const STDIO = { type: 'stdio', command: '/job/server' };
const http = (url: string) => upstream({ type: 'http', url });

/** The code of what a check throws; undefined when it passes. */
function codeOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (thrown) {
    return (thrown as { code?: string }).code ?? String(thrown);
  }
}

describe('programs of tenants', () => {
  test.each([
    ['a shell tool', tool({ kind: 'shell' }), 'E3210'],
    ['a function', tool({ kind: 'native' }), undefined],
    ['a function that says so', tool({ kind: 'native' }, { execution_config: { isolation: 'none' } }), undefined],
    [
      'a module in the interpreter',
      tool({ kind: 'native' }, { execution_config: { isolation: 'interpreter' } }),
      undefined,
    ],
    ['a module in a process', tool({ kind: 'native' }, { execution_config: { isolation: 'namespaces' } }), 'E3210'],
    ['an HTTP tool', tool({ kind: 'http' }, { execution_config: { isolation: 'namespaces' } }), undefined],
  ])('SBX-01.1 %s of a tenant that may run none', (_, version, code) => {
    const { refusal, faults } = bounds();
    const refused = refusal(version);
    expect(refused?.code).toBe(code);
    const found = faults(version.manifest, 'guest');
    expect(found.map((fault) => [fault.path, fault.code])).toEqual(
      code === undefined ? [] : [['/executor/kind', 'E3008']],
    );
    if (code === undefined) return;
    expect(refused).toMatchObject({ details: { tenant_id: 'guest' } });
    expect(refused?.message).toContain('tenant.may_run_programs');
    expect(found[0]?.message).toContain('tenant guest');
  });

  test('SBX-01.1 the own tenant, that of the catalogue, and those that the operator names may', () => {
    const may = (tenantId: string, given: Partial<Settings> = {}) =>
      bounds({ 'tenant.default': 'own', 'tenant.catalog': 'all', ...given }).refusal(
        tool({ kind: 'shell' }, {}, tenantId),
      ) === undefined;
    expect(['own', 'all', 'guest', 'default'].map((id) => may(id))).toEqual([true, true, false, false]);
    expect(['guest', 'other'].map((id) => may(id, { 'tenant.may_run_programs': ['guest'] }))).toEqual([true, false]);
    expect(may('guest', { 'tenant.may_run_programs': ['*'] })).toBe(true);
    expect(bounds({ 'tenant.may_run_programs': ['guest'] }).faults(tool({ kind: 'shell' }).manifest, 'guest')).toEqual(
      [],
    );
  });
});

describe('addresses of this machine', () => {
  const to = (host: string, tenantId = 'guest') =>
    tool(
      { kind: 'http' },
      {
        permissions: {
          network: [
            { host: 'example.com', port: 443 },
            { host, port: 80 },
          ],
        },
      },
      tenantId,
    );

  test.each([
    ['localhost', false],
    ['LOCALHOST.', false],
    ['a.localhost', false],
    ['127.0.0.1', false],
    ['10.1.2.3', false],
    ['::1', false],
    ['::ffff:127.0.0.1', false],
    ['notlocalhost', true],
    ['localhost.example.com', true],
    ['8.8.8.8', true],
    ['*', true],
  ])('SBX-04.3 %s of any tenant while the operator names no address: may be asked is %s', (host, allowed) => {
    for (const tenantId of ['guest', 'default']) {
      const refused = bounds({ 'agent.allowed_hosts': ['*'] }).refusal(to(host, tenantId));
      expect(refused?.code).toBe(allowed ? undefined : 'E3104');
      if (allowed) continue;
      expect(refused).toMatchObject({ details: { host, port: 80 } });
      const hint = tenantId === 'guest' ? 'Tenant guest may not reach those' : 'agent.allowed_hosts';
      expect(refused?.message).toContain(hint);
    }
  });

  test('SBX-04.3 one that the operator names is open to tenants that may run programs, and to nobody else', () => {
    const { refusal } = bounds({ 'agent.allowed_hosts': ['10.1.2.3', 'localhost', '*'] });
    for (const host of ['10.1.2.3', 'localhost', 'LOCALHOST'])
      expect([refusal(to(host, 'default')), refusal(to(host))?.code]).toEqual([undefined, 'E3104']);
    expect(refusal(to('127.0.0.1', 'default'))?.code).toBe('E3104');
    expect(refusal(tool({ kind: 'http' }))).toBeUndefined();
  });
});

describe('upstreams', () => {
  test.each([
    ['http://127.0.0.1:9/mcp', 'E3104'],
    ['http://[::1]/mcp', 'E3104'],
    ['https://example.com/mcp', undefined],
    ['https://other.example/mcp', 'E3104'],
  ])('SBX-01.3 the server at %s, where agents may reach example.com', (url, code) => {
    const { checkUpstream } = bounds({ 'agent.allowed_hosts': ['example.com'] });
    for (const tenantId of ['guest', 'default']) {
      expect(codeOf(() => checkUpstream(tenantId, http(url)))).toBe(code);
      expect(codeOf(() => checkUpstream(tenantId, upstream({ type: 'sse', url })))).toBe(code);
    }
  });

  test('SBX-04.3 a server on this machine is not one of any address: the operator names it', () => {
    const { checkUpstream } = bounds({ 'agent.allowed_hosts': ['*', '10.1.2.3'] });
    const check = (url: string, tenantId = 'default') => codeOf(() => checkUpstream(tenantId, http(url)));
    expect([check('https://other.example/mcp'), check('http://10.1.2.3/mcp')]).toEqual([undefined, undefined]);
    expect([check('http://127.0.0.1:9/mcp'), check('http://10.1.2.3/mcp', 'guest')]).toEqual(['E3104', 'E3104']);
  });

  test('SBX-01.3 the port is that of the address, or of its protocol', () => {
    const { checkUpstream } = bounds({ 'agent.allowed_hosts': [] });
    const portOf = (url: string): unknown => {
      try {
        checkUpstream('default', http(url));
        return undefined;
      } catch (thrown) {
        return (thrown as { failure: { details: { port: number } } }).failure.details.port;
      }
    };
    expect(['https://a.example', 'http://a.example', 'https://a.example:8443'].map(portOf)).toEqual([443, 80, 8443]);
  });

  test('SBX-01.1 a program runs only for tenants that may, within the mounts and addresses of agents', () => {
    const { checkUpstream } = bounds({ 'agent.allowed_hosts': ['example.com'] });
    const check = (more: object, tenantId = 'default') =>
      codeOf(() => checkUpstream(tenantId, upstream({ ...STDIO, ...more })));
    expect([check({}), check({}, 'guest')]).toEqual([undefined, 'E3210']);
    expect(() => checkUpstream('guest', upstream(STDIO))).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ details: { tenant_id: 'guest' } }) }),
    );
    expect(
      check({
        mounts: [
          { path: '/job/a', mode: 'rw' },
          { path: '/data', mode: 'ro' },
        ],
      }),
    ).toBeUndefined();
    expect(check({ mounts: [{ path: '/data', mode: 'rw' }] })).toBe('E3105');
    expect(check({ mounts: [{ path: '/etc', mode: 'ro' }] })).toBe('E3105');
    expect(check({ network: [{ host: 'example.com', port: 443 }] })).toBeUndefined();
    expect(check({ network: [{ host: 'other.example', port: 443 }] })).toBe('E3104');
    expect(check({ network: [{ host: '127.0.0.1', port: 443 }] })).toBe('E3104');
    // A server of this process starts nothing.
    expect(codeOf(() => checkUpstream('guest', upstream({ type: 'embedded', server: 'documents' })))).toBeUndefined();
  });

  test('SBX-01.5 what it is shown of this machine lies within the mounts, for reading', () => {
    const { checkShown } = bounds();
    expect(codeOf(() => checkShown(['/job/server', '/data/code']))).toBeUndefined();
    expect(codeOf(() => checkShown([]))).toBeUndefined();
    expect(codeOf(() => checkShown(['/job/server', '/etc/passwd']))).toBe('E3105');
  });
});
