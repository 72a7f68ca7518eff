import { isFailure } from '@sallyport/std/error/failure';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentSandboxContext, ResourceLimits } from '../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../api/schemas/capability-token.ts';
import type { ToolManifest, ToolPermissions } from '../../api/schemas/tool-manifest.ts';
import { type GrantQuestion, outsideAgent } from './compute-grant.ts';
import { grantOf } from './grant/grant.fixture.ts';

const layer = {
  defaults: { timeoutMs: 30_000, cpuMillicores: 500, memoryMb: 512, outputBytesMax: 1000 },
  maxima: { timeoutMs: 600_000, cpuMillicores: 4000, memoryMb: 4096, outputBytesMax: 5000 },
};
const manifest = (permissions: ToolPermissions, config: ToolManifest['execution_config'] = {}): ToolManifest => ({
  tool_id: 't',
  tool_name: 't',
  version: '1.0.0',
  description: '',
  parameters_schema: {},
  permissions,
  execution_config: config,
  executor: { kind: 'native' },
});
const token = (over: Partial<CapabilityClaims> = {}): CapabilityClaims => ({
  tool_id: '*',
  agent_did: 'did:a',
  tenant_id: 't',
  allowed_operations: ['execute'],
  exp: 2,
  iat: 1,
  iss: 'i',
  ...over,
});
const files = (mode: 'ro' | 'rw', ...allowed_paths: string[]) =>
  token({ filesystem_permissions: { allowed_paths, mode } });
const network = (allowed_hosts: string[], allowed_ports: number[]) =>
  token({ network_permissions: { allowed_hosts, allowed_ports } });
const mounts = (mode: 'ro' | 'rw', path: string): AgentSandboxContext => ({
  filesystem_policy: { mounts: [{ path, mode }] },
});

const grantFor = (
  permissions: ToolPermissions,
  claims: CapabilityClaims,
  agentContext?: AgentSandboxContext,
  requestLimits?: ResourceLimits,
  config?: ToolManifest['execution_config'],
) =>
  grantOf({
    manifest: manifest(permissions, config),
    claims,
    layer,
    ...(agentContext === undefined ? {} : { agentContext }),
    ...(requestLimits === undefined ? {} : { requestLimits }),
  });
const outcome = (...args: Parameters<typeof grantFor>) => {
  const grant = grantFor(...args);
  return isFailure(grant) ? grant.code : 'ok';
};

describe('paths', () => {
  test.each<['ro' | 'rw', string, CapabilityClaims, AgentSandboxContext | undefined, string]>([
    ['ro', '/a/b', files('ro', '/a'), undefined, 'ok'],
    ['ro', '/a', files('rw', '/a/'), undefined, 'ok'],
    ['ro', '/a/b', files('ro', '/'), undefined, 'ok'],
    ['ro', '/ab', files('ro', '/a'), undefined, 'E3203'],
    ['ro', '/', files('ro', '/a'), undefined, 'E3203'],
    ['ro', '/A/b', files('ro', '/a'), undefined, 'E3203'],
    ['rw', '/a/b', files('ro', '/a'), undefined, 'E3203'],
    ['ro', '/a/../etc', files('ro', '/a'), undefined, 'E3203'],
    ['ro', '/a//./b/', files('ro', '/a/b'), undefined, 'ok'],
    ['ro', '/a/b', files('ro', '/x/../a'), undefined, 'ok'],
    ['ro', 'a/b', files('ro', '/'), undefined, 'E3203'],
    ['ro', '/a\0/b', files('ro', '/'), undefined, 'E3203'],
    ['ro', '/a/b', token(), undefined, 'E3203'],
    ['ro', '/a/b', files('ro', 'a', '', '.'), undefined, 'E3203'],
    ['ro', '/a/b', files('rw', '/a'), mounts('ro', '/a'), 'ok'],
    ['rw', '/a/b', files('rw', '/a'), mounts('ro', '/a'), 'E3105'],
    ['ro', '/a/b', files('rw', '/a'), mounts('rw', '/a/c'), 'E3105'],
    ['ro', '/a/b', files('rw', '/a'), {}, 'ok'],
    ['ro', '/a/b', files('rw', '/a'), { filesystem_policy: { mounts: [] } }, 'E3105'],
  ])('PRM-03.3 %s %s', (mode, path, claims, context, expected) => {
    expect(outcome({ filesystem: [{ path, mode }] }, claims, context)).toBe(expected);
  });
});

test('PRM-03.3 a path has at most 4096 characters', () => {
  const path = (length: number) => `/${'p'.repeat(length - 1)}`;
  const of = (length: number) => outcome({ filesystem: [{ path: path(length), mode: 'ro' }] }, files('ro', '/'));
  expect([of(4096), of(4097)]).toEqual(['ok', 'E3203']);
});

describe('addresses', () => {
  const agent = (allowed_hosts: string[], allowed_ports = [0]): AgentSandboxContext => ({
    network_policy: { allowed_hosts, allowed_ports },
  });
  test.each<[string, number, CapabilityClaims, AgentSandboxContext | undefined, string]>([
    ['api.example.com', 443, network(['api.example.com'], [443]), undefined, 'ok'],
    ['API.Example.com.', 443, network(['api.example.COM'], [443]), undefined, 'ok'],
    ['api.example.com', 80, network(['api.example.com'], [443]), undefined, 'E3204'],
    ['api.example.com', 80, network(['*.example.com'], [0]), undefined, 'ok'],
    ['a.b.example.com', 80, network(['*.example.com'], [0]), undefined, 'ok'],
    ['example.com', 80, network(['*.example.com'], [0]), undefined, 'E3204'],
    ['badexample.com', 80, network(['*.example.com'], [0]), undefined, 'E3204'],
    ['x.test', 80, network(['*'], [0]), undefined, 'ok'],
    ['x.test', 80, token(), undefined, 'E3204'],
    ['*', 80, network(['*'], [0]), undefined, 'ok'],
    ['*', 80, network(['*'], [443]), undefined, 'E3204'],
    ['*', 80, token(), undefined, 'E3204'],
    ['*.', 80, network(['*'], [0]), undefined, 'E3204'],
    ['*.example.com', 80, network(['*.example.org'], [0]), undefined, 'E3204'],
    ['*', 80, network(['10.0.0.5', 'localhost', '10.0.0.0/8'], [0]), undefined, 'E3204'],
    ['x.test:80', 80, network(['*'], [0]), undefined, 'E3204'],
    ['127.0.0.1', 80, network(['127.0.0.1'], [80]), undefined, 'ok'],
    ['127.1', 80, network(['*'], [0]), undefined, 'E3204'],
    ['0x7f.0.0.1', 80, network(['*'], [0]), undefined, 'E3204'],
    ['0177.0.0.1', 80, network(['*'], [0]), undefined, 'E3204'],
    ['2130706433', 80, network(['*'], [0]), undefined, 'E3204'],
    ['::ffff:127.0.0.1', 80, network(['127.0.0.1'], [80]), undefined, 'ok'],
    ['[0:0::1]', 80, network(['::1'], [80]), undefined, 'ok'],
    ['fe80::1%eth0', 80, network(['*'], [80]), undefined, 'E3204'],
    ['10.1.2.3', 80, network(['*'], [0]), agent(['10.0.0.0/8']), 'ok'],
    ['11.1.2.3', 80, network(['*'], [0]), agent(['10.0.0.0/8']), 'E3104'],
    ['::ffff:11.0.0.1', 80, network(['*'], [0]), agent(['10.0.0.0/8']), 'E3104'],
    ['2001:db8::5', 80, network(['*'], [0]), agent(['2001:db8::/32']), 'ok'],
    ['ten.example.com', 80, network(['*'], [0]), agent(['10.0.0.0/8', '0.0.0.0/0']), 'E3104'],
    ['10.1.2.3', 80, network(['*'], [0]), agent(['10.0.0.0/33', '10.0.0.0/', '/8']), 'E3104'],
    ['x.test', 80, network(['*'], [0]), agent(['x.test'], [443]), 'E3104'],
    ['bücher.example', 80, network(['xn--bcher-kva.example'], [80]), undefined, 'ok'],
  ])('PRM-03.4 %s %i', (host, port, claims, context, expected) => {
    expect(outcome({ network: [{ host, port }] }, claims, context)).toBe(expected);
  });
});

describe('credentials and the whole', () => {
  test('PRM-03.5 a secret must be named by the token, else E3205', () => {
    const claims = token({ credential_permissions: { allowed_secrets: ['a'] } });
    expect(outcome({ credentials: ['a'] }, claims)).toBe('ok');
    expect(outcome({ credentials: ['a', 'b'] }, claims)).toBe('E3205');
    expect(outcome({ credentials: ['*'] }, token({ credential_permissions: { allowed_secrets: ['x'] } }))).toBe(
      'E3205',
    );
  });

  test('PRM-03 a tool that wants a path and a secret is held against the token as well', () => {
    const wanted = { filesystem: [{ path: '/etc', mode: 'ro' as const }], credentials: ['key'] };
    expect(outcome(wanted, token())).toBe('E3203');
    expect(outcome({ network: [{ host: 'a.test', port: 1 }], credentials: ['key'] }, token())).toBe('E3204');
  });

  test('every violation is listed and the first gives the code', () => {
    const permissions: ToolPermissions = {
      filesystem: [{ path: '/x', mode: 'ro' }],
      network: [{ host: 'x.test', port: 1 }],
      credentials: ['s'],
    };
    const failed = grantFor(permissions, token(), mounts('ro', '/y'), { memory_mb_limit: 9999 });
    const violations = isFailure(failed) ? (failed.details?.['violations'] as { code: string }[]) : [];
    expect(violations.map(({ code }) => code)).toEqual(['E3203', 'E3105', 'E3204', 'E3205', 'E3102']);
    expect(isFailure(failed) && failed.code).toBe('E3203');
  });

  test('a tool that asks for nothing gets nothing from a token that allows all', () => {
    expect(grantFor({}, files('rw', '/'))).toMatchObject({ filesystem: [], network: [], credentials: [] });
  });

  test("another agent's context is refused", () => {
    expect(outcome({}, token(), { agent_did: 'did:b' })).toBe('E3209');
    expect(outcome({}, token(), { agent_did: 'did:a', tenant_id: 't' })).toBe('ok');
  });
});

describe('limits', () => {
  interface Said {
    readonly agent?: number;
    readonly request?: number;
    readonly tool?: number;
  }
  const memory = (said: Said) => {
    const grant = grantFor(
      {},
      token(),
      said.agent === undefined ? undefined : { resource_limits: { memory_mb_limit: said.agent } },
      said.request === undefined ? undefined : { memory_mb_limit: said.request },
      said.tool === undefined ? {} : { default_memory_mb_limit: said.tool },
    );
    return isFailure(grant) ? grant.code : grant.limits.memoryMb;
  };
  test.each<[string, number | string, Said]>([
    ["the layer's default", 512, {}],
    ["the layer's default, lowered to the agent's limit", 256, { agent: 256 }],
    ["the tool's default", 700, { tool: 700 }],
    ["the tool's default beyond the agent's limit", 'E3102', { agent: 256, tool: 700 }],
    ["the tool's default at the agent's limit", 700, { agent: 700, tool: 700 }],
    ['a request below', 100, { agent: 256, request: 100, tool: 700 }],
    ["a request above the tool's default, within the agent's", 800, { agent: 900, request: 800, tool: 700 }],
    ["a request beyond the agent's limit", 'E3102', { agent: 256, request: 257 }],
    ["a request at the layer's maximum", 4096, { request: 4096 }],
    ["a request beyond the layer's maximum", 'E3102', { request: 4097 }],
    ["an agent's limit beyond the layer's maximum gives no more", 'E3102', { agent: 9000, request: 5000 }],
  ])('%s', (_name, expected, said) => {
    expect(memory(said)).toBe(expected);
  });

  test('seconds become milliseconds, output is bounded by the layer', () => {
    const grant = grantFor({}, token(), undefined, { timeout_seconds: 1.5 }, { output_bytes_max: 9000 });
    expect(grant).toMatchObject({ limits: { timeoutMs: 1500, cpuMillicores: 500, outputBytesMax: 5000 } });
  });
});

describe('the time of a tool of an upstream', () => {
  const own = { ...layer, upstreamTools: { timeoutMs: 120_000, timeoutMsMax: 900_000 } };
  const times = (said: Partial<GrantQuestion> = {}, kind: 'mcp' | 'native' = 'mcp') => {
    const of = { ...manifest({}), executor: { kind } };
    const grant = grantOf({ manifest: of, claims: token(), layer: own, ...said });
    return isFailure(grant) ? grant.code : [grant.limits.timeoutMs, grant.limits.timeoutMsMax];
  };

  test('EXE-12 is its own default, and progress may keep it alive within every bound', () => {
    expect(times()).toEqual([120_000, 600_000]);
    expect(times({}, 'native')).toEqual([30_000, undefined]);
    expect(times({ agentContext: { resource_limits: { timeout_seconds: 300 } } })).toEqual([120_000, 300_000]);
    expect(times({ agentContext: { resource_limits: { timeout_seconds: 60 } } })).toEqual([60_000, undefined]);
  });

  test('EXE-12 is what the call states, and then progress lengthens nothing', () => {
    expect(times({ requestLimits: { timeout_seconds: 5 } })).toEqual([5_000, undefined]);
    expect(times({ requestLimits: { memory_mb_limit: 64 } })).toEqual([120_000, 600_000]);
  });
});

describe('whatever the three say', () => {
  const segment = fc.constantFrom('a', 'b', 'ab', '..', '.', '', 'A');
  const path = fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
  const mode = fc.constantFrom<'ro' | 'rw'>('ro', 'rw');
  const resolved = (text: string): string[] =>
    new URL(`file://${text.replaceAll(/\/+/g, '/')}`).pathname.split('/').filter((one) => one !== '');
  const covers = (outer: string, inner: string): boolean => {
    const [o, i] = [resolved(outer), resolved(inner)];
    return o.every((part, index) => i[index] === part);
  };
  const allowed = (sides: readonly { path: string; mode: string }[], want: { path: string; mode: string }): boolean =>
    sides.some((side) => (side.mode === 'rw' || want.mode === 'ro') && covers(side.path, want.path));

  test('PRM-03.1 a granted path lies within token, manifest and agent context, and no covered one is refused', () => {
    const permission = fc.record({ path, mode });
    fc.assert(
      fc.property(
        fc.array(permission, { maxLength: 3 }),
        fc.array(path, { maxLength: 3 }),
        mode,
        fc.array(permission, { maxLength: 3 }),
        (filesystem, paths, tokenMode, agentMounts) => {
          const grant = grantFor({ filesystem }, files(tokenMode, ...paths), {
            filesystem_policy: { mounts: agentMounts },
          });
          const tokenSide = paths.map((one) => ({ path: one, mode: tokenMode }));
          const covered = filesystem.every((want) => allowed(tokenSide, want) && allowed(agentMounts, want));
          expect(!isFailure(grant)).toBe(covered);
          if (isFailure(grant)) return;
          for (const granted of grant.filesystem)
            for (const side of [tokenSide, agentMounts, filesystem]) expect(allowed(side, granted)).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('limits never exceed what agent and layer allow', () => {
    const limit = fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: undefined });
    fc.assert(
      fc.property(limit, limit, limit, (agent, request, tool) => {
        const grant = grantFor(
          {},
          token(),
          agent === undefined ? {} : { resource_limits: { cpu_millicore_limit: agent } },
          request === undefined ? {} : { cpu_millicore_limit: request },
          tool === undefined ? {} : { default_cpu_millicore_limit: tool },
        );
        if (!isFailure(grant)) expect(grant.limits.cpuMillicores).toBeLessThanOrEqual(Math.min(agent ?? 4000, 4000));
      }),
    );
  });
});

describe('a program that runs without a capability token', () => {
  const context: AgentSandboxContext = {
    filesystem_policy: { mounts: [{ path: '/data', mode: 'ro' }] },
    network_policy: { allowed_hosts: ['api.example.com', '*.example.org'], allowed_ports: [443] },
  };
  const refusalOf = (wanted: Partial<Parameters<typeof outsideAgent>[0]>, within = context) =>
    outsideAgent({ filesystem: [], network: [], ...wanted }, within)?.code;
  const host = (name: string, port = 443) => ({ network: [{ host: name, port }] });
  const path = (name: string, mode: 'ro' | 'rw' = 'ro') => ({ filesystem: [{ path: name, mode }] });

  test.each<[string, ReturnType<typeof host> | ReturnType<typeof path>, string | undefined]>([
    ['a path of the agent', path('/data/in'), undefined],
    ['a path of the agent, to write', path('/data/in', 'rw'), 'E3105'],
    ['another path', path('/etc'), 'E3105'],
    ['a path that leads out', path('/data/../etc'), 'E3105'],
    ['a path that is none', path('data'), 'E3105'],
    ['a host of the agent', host('api.example.com'), undefined],
    ['a host of the agent in other letters', host('API.Example.com.'), undefined],
    ['a host of the agent at another port', host('api.example.com', 80), 'E3104'],
    ['another host', host('example.com'), 'E3104'],
    ['a host that a pattern of the agent covers', host('a.example.org'), undefined],
    ['the very pattern of the agent', host('*.example.org'), undefined],
    ['the very pattern of the agent in other letters', host('*.Example.ORG.'), undefined],
    ['the very pattern of the agent at another port', host('*.example.org', 22), 'E3104'],
    ['a pattern below one of the agent', host('*.a.example.org'), undefined],
    ['a pattern above one of the agent', host('*.org'), 'E3104'],
    ['a pattern that is none', host('*.'), 'E3104'],
    ['a pattern that is none of the agent', host('*.example.com'), 'E3104'],
    ['every host', host('*'), 'E3104'],
    ['a host that is none', host('a b'), 'E3104'],
    ['the address of a name', host('[::1]'), 'E3104'],
  ])('PRM-03.1 has %s or not', (_what, wanted, expected) => {
    expect(refusalOf(wanted)).toBe(expected);
  });

  test('PRM-03.1 has what it wants where the agent has no bounds, and any pattern where the agent has every host', () => {
    expect(refusalOf({ ...path('/etc', 'rw'), ...host('*') }, {})).toBeUndefined();
    const everywhere = { network_policy: { allowed_hosts: ['*'], allowed_ports: [0] } };
    expect(refusalOf(host('*.example.com'), everywhere)).toBeUndefined();
    for (const none of ['a b', '*.', 'a.test/x']) expect(refusalOf(host(none), everywhere), none).toBe('E3104');
    const onePort = { network_policy: { allowed_hosts: ['*'], allowed_ports: [443] } };
    expect([refusalOf(host('*'), onePort), refusalOf(host('*', 80), onePort)]).toEqual([undefined, 'E3104']);
    expect(outsideAgent({ filesystem: [], network: [{ host: 'x.test', port: 1 }] }, context)).toMatchObject({
      details: { host: 'x.test', port: 1 },
    });
    expect(outsideAgent({ filesystem: [{ path: '/etc', mode: 'ro' }], network: [] }, context)).toMatchObject({
      details: { path: '/etc' },
    });
  });
});
