import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fixedKeys } from '../../../identity/key-source.ts';
import { silentLog } from '../../../telemetry/log.ts';
import { readSettings } from '../../read-settings.ts';
import type { Settings } from '../../settings.ts';
import type { Storage } from '../open-storage.ts';
import { agentContextOf, layerLimitsOf } from './agent-bounds.ts';
import { circuitTermsFrom } from './circuit-terms.ts';
import { contextBridgeOf } from './context-bridge.ts';
import { checkCredentials, credentialsOf } from './credentials.ts';
import { introspectionOf } from './introspection.ts';
import { objectStoreOf } from './object-store.ts';
import { publicUrlOf, resourceAudiences, resourceOf, scopeRole, serverAudience } from './resource.ts';
import { accessTokensOf, algorithmsOf, claimsWithoutToken } from './token-trust.ts';
import { valueRulesOf } from './value-rules.ts';

const settingsWith = (given: Partial<Settings>): Settings => readSettings({ environment: {}, given });
const faulty = (message: string) =>
  expect.objectContaining({ code: 'E3801', message: expect.stringContaining(message) });

describe('bounds of agents', () => {
  test('SBX-01.1 every agent has the limits, addresses and mounts that the operator names', () => {
    const context = agentContextOf(
      settingsWith({
        ...{ 'agent.cpu_millicores': 700, 'agent.memory_mb': 300, 'calls.timeout_seconds_max': 50 },
        ...{ 'agent.network_bandwidth_mbps': 8, 'agent.allowed_hosts': ['a.example'] },
        // The folder above all others is allowed by its own name alone.
        'agent.mounts': ['/work:rw', '/data:a:ro', './here:ro', '.:rw', '/:ro', `./${'../'.repeat(64)}:ro`],
      }),
    );
    expect(context).toEqual({
      resource_limits: {
        cpu_millicore_limit: 700,
        memory_mb_limit: 300,
        timeout_seconds: 50,
        network_bandwidth_mbps: 8,
      },
      network_policy: { allowed_hosts: ['a.example'], allowed_ports: [0] },
      filesystem_policy: {
        mounts: [
          { path: '/work', mode: 'rw' },
          { path: '/data:a', mode: 'ro' },
          { path: resolve('here'), mode: 'ro' },
          { path: resolve('.'), mode: 'rw' },
          { path: '/', mode: 'ro' },
        ],
      },
    });
    const unlimited = agentContextOf(settingsWith({ 'agent.network_bandwidth_mbps': 0 }));
    expect(unlimited.resource_limits).not.toHaveProperty('network_bandwidth_mbps');
  });

  test.each(['work:rw', '/work', '/work:wr', '~/work:ro', '', '..:rw', '/work:rw '])(
    'SBX-01 the mount "%s" is refused',
    (mount) => {
      expect(() => agentContextOf(settingsWith({ 'agent.mounts': [mount] }))).toThrow(faulty('agent.mounts holds'));
    },
  );

  test('the limits of calls are those of the settings, and results have a ceiling', () => {
    const { defaults, maxima, upstreamTools } = layerLimitsOf(settingsWith({ 'calls.timeout_seconds_max': 77 }));
    expect([maxima.timeoutMs, maxima.outputBytesMax]).toEqual([77_000, 64 * 2 ** 20]);
    expect(defaults.timeoutMs).toBe(30_000);
    expect(upstreamTools?.timeoutMs).toBeGreaterThan(0);
  });

  test('CIR-01 terms of circuits outside of their bounds are E3403, and name the setting', () => {
    expect(circuitTermsFrom(settingsWith({ 'circuits.failure_rate_threshold': 40 })).failureRateThreshold).toBe(40);
    expect(() => circuitTermsFrom(settingsWith({ 'circuits.failure_rate_threshold': 101 }))).toThrow(
      expect.objectContaining({
        code: 'E3403',
        message: expect.stringContaining('The setting circuits.failure_rate_threshold '),
        failure: expect.objectContaining({ details: { setting: 'circuits.failure_rate_threshold' } }),
      }),
    );
  });
});

describe('the layer as an OAuth resource', () => {
  const PUBLIC = { 'server.public_url': 'https://tools.example.com/' };

  test('PRM-11.1 it has one address, and its doors and servers are resources below it', () => {
    const settings = settingsWith(PUBLIC);
    expect(publicUrlOf(settings)).toBe('https://tools.example.com');
    expect(resourceAudiences(settings)).toEqual(
      ['', '/mcp', '/mcp/discovery'].map((path) => `https://tools.example.com${path}`),
    );
    expect([publicUrlOf(settingsWith({})), resourceAudiences(settingsWith({}))]).toEqual(['', []]);
    expect(publicUrlOf(settingsWith({ 'server.public_url': 'http://127.0.0.1:8080' }))).toBe('http://127.0.0.1:8080');
  });

  test.each([
    'tools',
    'ftp://tools.example.com',
    'https://tools.example.com/a',
    'https://tools.example.com?a',
    'https://tools.example.com/#a',
    'https://u@tools.example.com',
    'https://:p@tools.example.com',
  ])('PRM-11.1 the public address %s is refused', (url) => {
    expect(() => publicUrlOf(settingsWith({ 'server.public_url': url }))).toThrow(faulty('server.public_url'));
  });

  test('PRM-11.2 an audience names a server by its own address alone', () => {
    const serverOf = serverAudience(settingsWith(PUBLIC));
    expect(serverOf('https://tools.example.com/mcp/servers/github')).toBe('github');
    for (const other of ['', '/mcp', '/mcp/servers/', '/mcp/servers/a/b', '/mcp/servers/github/'])
      expect(serverOf(`https://tools.example.com${other}`)).toBeUndefined();
    expect(serverOf('https://other.example.org/mcp/servers/github')).toBeUndefined();
    expect(serverAudience(settingsWith({}))('/mcp/servers/github')).toBeUndefined();
  });

  test('PRM-11.1 PRM-10.3 clients learn the authorization server and the scopes that give a role', () => {
    const scopes = { 'oauth.scopes': ['tools:admin=admin', 'a=b=viewer'], 'oauth.tool_scopes': ['mail=mail__*'] };
    const announced = resourceOf(
      settingsWith({ ...PUBLIC, ...scopes, 'oauth.issuer': 'https://id.example', 'dpop.required': true }),
    );
    expect(announced).toEqual({
      publicUrl: 'https://tools.example.com',
      authorizationServers: ['https://id.example'],
      scopes: [
        { scope: 'tools:admin', role: 'admin' },
        { scope: 'a=b', role: 'viewer' },
      ],
      mustBeBound: true,
      toolScopes: ['mail'],
    });
    const without = resourceOf(settingsWith(scopes));
    expect([without.authorizationServers, without.toolScopes, without.mustBeBound]).toEqual([[], [], false]);
    for (const wrong of ['admin', '=admin', 'tools=king', 'tools='])
      expect(() => scopeRole(wrong)).toThrow(faulty('oauth.scopes'));
  });
});

describe('whose tokens are accepted', () => {
  const OAUTH = {
    'oauth.issuer': 'https://id.example',
    'oauth.audiences': ['layer'],
    'oauth.jwks_url': 'https://id.example/keys',
  };
  const rules = (given: Partial<Settings>, introspect?: Parameters<typeof accessTokensOf>[2]) =>
    accessTokensOf(settingsWith(given), fixedKeys([]), introspect);

  test('PRM-10.2 PRM-11.2 access tokens of one issuer, for the names of this layer, as the settings say', () => {
    expect(rules({ ...OAUTH, 'oauth.issuer': '' })).toBeUndefined();
    const given = {
      ...{ ...OAUTH, 'server.public_url': 'https://tools.example.com', 'oauth.token_types': ['AT+JWT'] },
      ...{ 'oauth.scopes': ['ops=operator'], 'tenant.default': 'own', 'dpop.required': true },
    };
    const found = rules({ ...given, 'oauth.tenant_claim': 'org' });
    expect(found).toMatchObject({
      ...{ issuer: 'https://id.example', types: ['at+jwt'], roles: { ops: 'operator' }, tenantId: 'own' },
      ...{ mustBeBound: true, tenantClaim: 'org', algorithms: expect.arrayContaining(['RS256']) },
      audiences: expect.arrayContaining(['layer', 'https://tools.example.com/mcp']),
    });
    expect(found).not.toHaveProperty('introspect');
    expect(rules(given)).not.toHaveProperty('tenantClaim');
    const introspect = async () => undefined as never;
    expect(rules({ ...OAUTH, 'oauth.jwks_url': '' }, introspect)).toMatchObject({ introspect });
  });

  test.each<[Partial<Settings>, string]>([
    [{ 'oauth.audiences': [] }, 'oauth.audiences or server.public_url'],
    [{ 'oauth.jwks_url': '' }, 'oauth.jwks_url must say'],
    [{ 'oauth.issuer': 'sallyport' }, 'tokens.issuers too'],
    [{ 'oauth.issuer': 'sallyport', 'tokens.issuers': [] }, 'tokens.issuers too'],
    [{ 'tokens.issuers': ['https://id.example'] }, 'tokens.issuers too'],
    [{ 'oauth.algorithms': [] }, 'oauth.algorithms must name'],
    [{ 'oauth.algorithms': ['RS256', 'none'] }, 'oauth.algorithms must name'],
    [{ 'oauth.scopes': ['admin'] }, 'oauth.scopes has'],
    [{ 'oauth.tool_scopes': ['mail'] }, 'oauth.tool_scopes has'],
  ])('PRM-10.2 %j beside an issuer is refused', (given, message) => {
    expect(() => rules({ ...OAUTH, ...given })).toThrow(faulty(message));
  });

  test('PRM-01.9 algorithms are those that are named, and none but signatures', () => {
    const named = (...names: string[]) =>
      algorithmsOf(settingsWith({ 'tokens.algorithms': names }), 'tokens.algorithms');
    expect(named('RS256', 'EdDSA')).toEqual(['RS256', 'EdDSA']);
    for (const wrong of [[], ['HS256'], ['RS256', 'none']])
      expect(() => named(...wrong)).toThrow(faulty('tokens.algorithms must'));
  });

  test('PRM-02.5 who comes without a token is nobody where they are optional, and may do everything in development', () => {
    const claims = (mode: Settings['tokens.mode']) =>
      claimsWithoutToken(settingsWith({ 'tokens.mode': mode, 'tenant.default': 'own' }));
    expect(claims('required')).toBeUndefined();
    const own = { tool_id: '*', agent_did: 'did:sallyport:agent', tenant_id: 'own', iss: 'sallyport', iat: 0 };
    const exp = Number.MAX_SAFE_INTEGER;
    expect(claims('optional')).toEqual({
      ...own,
      exp,
      allowed_operations: ['execute'],
      roles: ['agent'],
      trust_level: 'untrusted',
    });
    expect(claims('development')).toEqual({
      ...{ ...own, exp, allowed_operations: ['*'], roles: ['agent', 'operator'] },
      filesystem_permissions: { allowed_paths: ['/'], mode: 'rw' },
      network_permissions: { allowed_hosts: ['*'], allowed_ports: [0] },
    });
  });

  test('PRM-10.2 an authorization server is asked about tokens where address, client and secret are named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'introspection-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'secret');
    await writeFile(file, 'secret\n');
    const given = {
      ...{ ...OAUTH, 'oauth.introspection_url': 'https://id.example/introspect' },
      ...{ 'oauth.introspection_client_id': 'layer', 'oauth.introspection_secret_file': file },
    };
    expect(await introspectionOf(settingsWith(given))).toBeTypeOf('function');
    expect(await introspectionOf(settingsWith({ ...given, 'oauth.introspection_url': '' }))).toBeUndefined();
    const faults: readonly (readonly [Partial<Settings>, string])[] = [
      [{ 'oauth.issuer': '' }, 'oauth.introspection_url is set, so oauth.issuer must be'],
      [{ 'oauth.introspection_client_id': '' }, 'oauth.introspection_client_id and'],
      [{ 'oauth.introspection_secret_file': '' }, 'oauth.introspection_secret_file must be'],
      [{ 'oauth.introspection_secret_file': join(folder, 'none') }, 'cannot be read'],
      [{ 'oauth.introspection_url': 'http://id.example/introspect' }, 'oauth.introspection_url: '],
    ];
    for (const [more, message] of faults)
      await expect(introspectionOf(settingsWith({ ...given, ...more }))).rejects.toEqual(faulty(message));
  });
});

describe('the context server', () => {
  const OWNER = { tenantId: 'acme', agentDid: 'did:example:a', userDid: 'did:example:u' };
  /** Calls of upstreams, each with its holder and its caller. */
  function bridgeOver(held: Readonly<Record<string, { disabled?: boolean }>>, given: Partial<Settings> = {}) {
    const calls: unknown[] = [];
    const upstreams = {
      definition: (tenantId: string, name: string) => held[`${tenantId}/${name}`] as never,
      async call(tenantId: string, name: string, tool: string, _args: unknown, { caller }: { caller?: unknown }) {
        calls.push([tenantId, name, tool, caller]);
        return { structuredContent: { immediateContext: { of: tenantId } } };
      },
    };
    const storage = { database: { checkpointStore: { reported: async () => undefined } } } as unknown as Storage;
    const from = { settings: settingsWith(given), clock: { now: () => 1, monotonic: () => 1 }, log: silentLog };
    const bridge = contextBridgeOf(from, { storage, instanceId: 'one' }, () => upstreams as never);
    return { ...bridge, calls };
  }

  test('STA-04.1 it is the upstream of the tenant, else that of the catalogue, asked as the caller without its credentials', async () => {
    const both = bridgeOver({ 'acme/context': {}, 'catalog/context': {} }, { 'tenant.catalog': 'catalog' });
    expect(await both.sessionContext(OWNER, 's')).toEqual({ of: 'acme' });
    expect(both.calls).toEqual([['acme', 'context', 'get_unified_context', { principal: OWNER, secrets: new Map() }]]);
    const { userDid: _user, ...agent } = { ...OWNER, tenantId: 'other' };
    expect(await both.sessionContext(agent, 's')).toEqual({ of: 'catalog' });
    expect(both.calls.at(-1)).toMatchObject(['catalog', 'context', 'get_unified_context', { principal: agent }]);
    expect([both.listener.reports('acme'), both.listener.instanceId]).toEqual([true, 'one']);
  });

  test('STA-04.1 nothing is asked or reported where there is none, it is switched off, or the operator wants none', async () => {
    for (const [held, given] of [
      [{}, {}],
      [{ 'acme/context': { disabled: true } }, {}],
      [{ 'acme/context': {} }, { 'context.upstream': 'other' }],
      [{ 'acme/': {} }, { 'context.upstream': '' }],
    ] as const) {
      const { sessionContext, listener, calls } = bridgeOver(held, given);
      expect(await sessionContext(OWNER, 's')).toBeUndefined();
      expect([listener.reports('acme'), calls]).toEqual([false, []]);
    }
  });
});

describe('what the operator says of credentials and values', () => {
  const NOW = Date.parse('2026-06-01T00:00:00Z');

  test('EXT-06.1 EXT-06.2 credentials are read from the file that is named, or from that of the data folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'credentials-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const text =
      '[[credential]]\nname = "key"\ncredential_type = "api_key"\nexpires_at = 2026-06-02T00:00:00Z\nmetadata = { service_name = "Petstore" }\n';
    const given = { data_folder: folder, 'tenant.default': 'own' };
    expect([await credentialsOf(settingsWith(given)), await checkCredentials(settingsWith(given), NOW)]).toEqual([
      [],
      [],
    ]);
    await writeFile(join(folder, 'credentials.toml'), text);
    expect(await credentialsOf(settingsWith(given))).toMatchObject([{ name: 'key', tenantId: 'own' }]);
    expect(await checkCredentials(settingsWith(given), NOW)).toEqual([
      {
        ...{ name: 'credential key of own', state: 'warning', hint: expect.stringContaining('restart') },
        message: expect.stringMatching(/^api_key for Petstore ends at 2026-06-02T00:00:00.000Z \(rotation: \w+\)$/),
      },
    ]);
    const none = { ...given, 'secrets.credentials_file': join(folder, 'none.toml') };
    await expect(credentialsOf(settingsWith(none))).rejects.toEqual(faulty(`names ${join(folder, 'none.toml')}`));
    expect(await checkCredentials(settingsWith(none), NOW)).toEqual([
      {
        ...{ name: 'credentials', state: 'failed', hint: 'The layer does not start so.' },
        message: expect.stringContaining('not there'),
      },
    ]);
    const other = join(folder, 'other.toml');
    await writeFile(other, text.replace('2026-06-02', '2027-06-02'));
    const fine = settingsWith({ ...given, 'secrets.credentials_file': other });
    expect(await checkCredentials(fine, NOW)).toEqual([
      { name: 'credentials', state: 'ok', message: '1 described, none near its end' },
    ]);
  });

  test('STA-03.4 STA-06.3 objects lie in the data folder, in another folder, or on a server with the credentials of the own tenant', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'objects-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const read: unknown[] = [];
    const secrets = {
      read: async (...asked: unknown[]) => {
        read.push(asked);
        return new Map([
          ['ID', 'key-id'],
          ['SECRET', 'a'],
        ]);
      },
    };
    const bytes = Buffer.from('a state');
    for (const [given, path] of [
      [{ data_folder: folder }, join(folder, 'objects')],
      [{ data_folder: folder, 'object_store.folder': join(folder, 'other') }, join(folder, 'other')],
    ] as const) {
      await objectStoreOf(settingsWith(given), secrets).put('acme/a', bytes, 'kept');
      expect(await readdir(path, { recursive: true })).toContain(join('acme', 'a'));
    }
    const asked: { headers: IncomingHttpHeaders; url: string | undefined }[] = [];
    const server = createServer((request, response) => {
      asked.push({ headers: request.headers, url: request.url });
      request.resume().on('end', () => response.writeHead(200).end());
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const s3 = {
      ...{
        'object_store.kind': 's3' as const,
        'tenant.default': 'own',
        'object_store.s3_url': `http://127.0.0.1:${port}/bucket`,
      },
      ...{ 'object_store.s3_key_id_secret': 'ID', 'object_store.s3_key_secret': 'SECRET' },
      ...{ 'object_store.s3_region': 'eu-test-1', 'object_store.s3_archive_class': 'DEEP_ARCHIVE' },
    } as const;
    await objectStoreOf(settingsWith(s3), secrets).put('acme/a', bytes, 'archived');
    expect(read).toEqual([['own', ['ID', 'SECRET']]]);
    const [put] = asked;
    expect([put?.url, put?.headers['x-amz-storage-class']]).toEqual(['/bucket/acme/a', 'DEEP_ARCHIVE']);
    expect(put?.headers.authorization).toMatch(/Credential=key-id\/\d+\/eu-test-1\//);
  });

  test('VAL-04 values are judged by the profiles, patterns and kinds of the settings; what is off is absent', () => {
    const off = valueRulesOf(
      settingsWith({ 'sanitise.profile': 'off', 'sanitise.results_profile': 'off', 'redact.results': [] }),
    );
    expect(Object.keys(off)).not.toEqual(
      expect.arrayContaining(['argumentSanitiser', 'resultSanitiser', 'resultRedactor']),
    );
    for (const absent of ['argumentSanitiser', 'resultSanitiser', 'resultRedactor'])
      expect(off).not.toHaveProperty(absent);
    const on = valueRulesOf(
      settingsWith({ 'redact.results': ['email'], 'sanitise.profile': 'strict', 'sanitise.results_profile': 'strict' }),
    );
    expect(on.resultRedactor?.value('ann.lee@example.org').value).toBe('[REDACTED:email]');
    expect([typeof on.argumentSanitiser, typeof on.resultSanitiser, typeof on.scanOutput]).toEqual([
      'object',
      'object',
      'function',
    ]);
    expect(valueRulesOf(settingsWith({ 'sanitise.content': 'judge' })).judgeContent).toBe(true);
    expect(valueRulesOf(settingsWith({})).judgeContent).toBe(settingsWith({})['sanitise.content'] === 'judge');
    expect(() => valueRulesOf(settingsWith({ 'sanitise.profile': 'strict', 'sanitise.patterns': ['x'] }))).toThrow();
  });
});
