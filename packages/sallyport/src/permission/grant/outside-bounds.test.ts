import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@sallyport/std/error/failure';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentSandboxContext } from '../../../api/schemas/agent-sandbox-context.ts';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { ToolPermissions } from '../../../api/schemas/tool-manifest.ts';
import { type GrantQuestion, realPathOf } from '../compute-grant.ts';
import { claimsOf, grantOf, manifestOf } from './grant.fixture.ts';

const grantFor = (
  permissions: ToolPermissions,
  agentContext: AgentSandboxContext,
  more: Partial<GrantQuestion> = {},
  claims: CapabilityClaims = claimsOf(),
) => grantOf({ manifest: manifestOf(permissions), claims, agentContext, ...more });

const outcome = (...args: Parameters<typeof grantFor>): string => {
  const grant = grantFor(...args);
  return isFailure(grant) ? grant.code : 'ok';
};

const mounts = (...all: [path: string, mode: 'ro' | 'rw'][]): AgentSandboxContext => ({
  filesystem_policy: { mounts: all.map(([path, mode]) => ({ path, mode })) },
});
const reach = (allowed_hosts: string[], allowed_ports = [0], dns_servers?: string[]): AgentSandboxContext => ({
  network_policy: { allowed_hosts, allowed_ports, ...(dns_servers === undefined ? {} : { dns_servers }) },
});

describe("paths within the agent's mounts", () => {
  test.each<[mode: 'ro' | 'rw', path: string, context: AgentSandboxContext, expected: string]>([
    ['ro', '/project', mounts(['/project', 'ro']), 'ok'],
    ['rw', '/project', mounts(['/project', 'ro']), 'E3105'],
    ['rw', '/project/x', mounts(['/project', 'ro'], ['/project/x', 'rw']), 'ok'],
    ['ro', '/project/', mounts(['/project//.', 'ro']), 'ok'],
    ['ro', '/project/../project/x/', mounts(['/project', 'ro']), 'ok'],
    ['ro', '/project/x/../../etc', mounts(['/project', 'ro']), 'E3105'],
    ['ro', '/project/%2e%2e/etc', mounts(['/project', 'ro']), 'ok'],
    ['ro', '/projectx', mounts(['/project', 'ro']), 'E3105'],
    ['ro', '/PROJECT', mounts(['/project', 'ro']), 'E3105'],
    ['ro', '/', mounts(['/project', 'rw']), 'E3105'],
    ['ro', '/project', mounts(['project', 'rw'], ['', 'rw']), 'E3105'],
    ['ro', '/project', mounts(), 'E3105'],
  ])('SBX-01.5 SBX-01.6 %s %s', (mode, path, context, expected) => {
    expect(outcome({ filesystem: [{ path, mode }] }, context)).toBe(expected);
  });
});

describe("addresses within the agent's network policy", () => {
  test.each<[host: string, port: number, context: AgentSandboxContext, expected: string]>([
    ['api.test', 443, reach(['API.Test.'], [443]), 'ok'],
    ['API.TEST.', 443, reach(['api.test'], [443]), 'ok'],
    ['api.test', 444, reach(['api.test'], [443]), 'E3104'],
    ['api.test', 443, reach(['*.api.test']), 'E3104'],
    ['bücher.test', 1, reach(['BÜCHER.test']), 'ok'],
    ['xn--bcher-kva.test', 1, reach(['bücher.test']), 'ok'],
    ['10.0.0.255', 1, reach(['10.0.0.0/24']), 'ok'],
    ['10.0.1.0', 1, reach(['10.0.0.0/24']), 'E3104'],
    ['::ffff:10.0.0.1', 1, reach(['10.0.0.0/24']), 'ok'],
    ['::ffff:a00:101', 1, reach(['10.0.0.0/24']), 'E3104'],
    ['10.0.0.1', 1, reach(['::ffff:10.0.0.1']), 'ok'],
    ['2001:DB8:0:0::1', 1, reach(['2001:db8::/64']), 'ok'],
    ['[2001:db8::1]', 1, reach(['2001:db8::1']), 'ok'],
    ['2001:db8:1::1', 1, reach(['2001:db8::/64']), 'E3104'],
    ['010.0.0.1', 1, reach(['*']), 'E3204'],
    ['0x0a000001', 1, reach(['*']), 'E3204'],
    ['10.1', 1, reach(['*']), 'E3204'],
    ['10.0.0.1.', 1, reach(['10.0.0.1']), 'E3204'],
  ])('SBX-01.3 SBX-01.6 %s %i', (host, port, context, expected) => {
    expect(outcome({ network: [{ host, port }] }, context)).toBe(expected);
  });

  test('SBX-01 a call brings bounds of its own, which narrow and never widen', () => {
    const permissions = { network: [{ host: 'a.test', port: 1 }] };
    expect(outcome(permissions, reach(['*']), { requestContext: reach(['a.test']) })).toBe('ok');
    expect(outcome(permissions, reach(['*']), { requestContext: reach(['b.test']) })).toBe('E3104');
    expect(outcome(permissions, reach(['b.test']), { requestContext: reach(['*']) })).toBe('E3104');
  });
});

describe("the agent's name servers", () => {
  const byName = { network: [{ host: 'a.test', port: 1 }] };
  test.each<[what: string, dnsServers: string[], own: string[], expected: string]>([
    ['that the layer asks too', ['9.9.9.9'], ['9.9.9.9'], 'ok'],
    ['in another spelling', ['2620:FE:0::FE'], ['2620:fe::fe'], 'ok'],
    ['none', [], ['9.9.9.9'], 'ok'],
    ['others', ['9.9.9.9'], ['1.1.1.1'], 'E3104'],
    ['only some of the layer', ['9.9.9.9'], ['9.9.9.9', '1.1.1.1'], 'E3104'],
    ['when the layer has none', ['9.9.9.9'], [], 'E3104'],
  ])('SBX-01.4 %s', (_, servers, own, expected) => {
    expect(outcome(byName, reach(['*'], [0], servers), { dnsServers: own })).toBe(expected);
  });

  test('they do not matter to a tool that reaches addresses only, or nothing', () => {
    const context = reach(['*'], [0], ['9.9.9.9']);
    expect(outcome({ network: [{ host: '10.0.0.1', port: 1 }] }, context)).toBe('ok');
    expect(outcome({ credentials: [] }, context)).toBe('ok');
  });
});

describe('links', () => {
  let folder = '';
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'grant-links-')));
    mkdirSync(join(folder, 'inside/deep'), { recursive: true });
    mkdirSync(join(folder, 'outside'));
    writeFileSync(join(folder, 'outside/secret'), '');
    writeFileSync(join(folder, 'inside/file'), '');
    symlinkSync('deep', join(folder, 'inside/near'));
    symlinkSync('../outside', join(folder, 'inside/out'));
    symlinkSync('/nowhere/at/all', join(folder, 'inside/dangling'));
    symlinkSync('loop', join(folder, 'inside/loop'));
    symlinkSync('inside', join(folder, 'alias'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const at = (path: string): string => join(folder, path);
  const linked = (path: string, context: AgentSandboxContext, claims?: CapabilityClaims): string =>
    outcome({ filesystem: [{ path: at(path), mode: 'rw' }] }, context, { realPath: realPathOf }, claims);

  test.each([
    ['inside/deep', 'ok'],
    ['inside/near', 'ok'],
    ['inside/not/yet', 'ok'],
    ['inside/near/not/yet', 'ok'],
    ['inside/out', 'E3105'],
    ['inside/out/secret', 'E3105'],
    ['inside/out/not/yet', 'E3105'],
    ['inside/dangling', 'E3203'],
    ['inside/dangling/x', 'E3203'],
    ['inside/loop', 'E3203'],
    ['inside/file/x', 'E3203'],
    ['outside', 'E3105'],
  ])('SBX-01.7 a mount bounds what %s leads to, and what cannot be told is refused', (path, expected) => {
    expect(linked(path, mounts([at('inside'), 'rw']))).toBe(expected);
  });

  test('SBX-01.7 the token bounds what a link leads to as well', () => {
    const claims = claimsOf({ filesystem_permissions: { allowed_paths: [at('inside')], mode: 'rw' } });
    expect(linked('inside/near', mounts([folder, 'rw']), claims)).toBe('ok');
    expect(linked('inside/out', mounts([folder, 'rw']), claims)).toBe('E3203');
  });

  test('SBX-01 a bound that is a link itself allows nothing of what it leads to', () => {
    expect(linked('alias/deep', mounts([at('alias'), 'rw']))).toBe('E3105');
    expect(linked('alias/deep', mounts([at('alias'), 'rw'], [at('inside'), 'rw']))).toBe('ok');
  });

  test('the grant tells the links that it was given through', () => {
    const question = {
      manifest: manifestOf({ filesystem: [{ path: at('inside/near'), mode: 'ro' }] }),
      claims: claimsOf(),
      realPath: realPathOf,
    };
    const grant = grantOf(question);
    expect(isFailure(grant) ? undefined : grant.links).toEqual(new Map([[at('inside/near'), at('inside/deep')]]));
    const bounded = { ...question, agentContext: mounts([at('inside'), 'ro']) };
    expect(isFailure(grantOf(bounded))).toBe(false);
    rmSync(at('inside/near'));
    symlinkSync('../outside', at('inside/near'));
    expect(grantOf(bounded)).toMatchObject({ code: 'E3105' });
    renameSync(at('inside/near'), at('inside/near-before'));
    symlinkSync('deep', at('inside/near'));
  });

  test('SBX-01.7 a refusal for a link is not remembered', () => {
    const question = {
      manifest: manifestOf({ filesystem: [{ path: at('inside/later'), mode: 'ro' }] }),
      claims: claimsOf(),
      realPath: realPathOf,
    };
    symlinkSync('not-yet', at('inside/later'));
    expect(grantOf(question)).toMatchObject({ code: 'E3203' });
    mkdirSync(at('inside/not-yet'));
    expect(isFailure(grantOf(question))).toBe(false);
  });

  test('where a link leads out to is not told', () => {
    const failed = grantFor({ filesystem: [{ path: at('inside/out'), mode: 'ro' }] }, mounts([at('inside'), 'ro']), {
      realPath: realPathOf,
    });
    expect(JSON.stringify(failed)).not.toContain('outside');
  });
});

describe('a refusal', () => {
  const violationsOf = (...args: Parameters<typeof grantFor>): unknown => {
    const failed = grantFor(...args);
    return isFailure(failed) ? failed.details?.['violations'] : [];
  };
  const says = (wanted: string, whose: string, remedy: string) =>
    `The tool needs ${wanted}, which the ${whose} does not allow. ${remedy}`;
  const ASK = 'Ask for a token that does.';

  test('SBX-01 says what was wanted, what is allowed and what to change', () => {
    const violations = violationsOf(
      { filesystem: [{ path: '/etc', mode: 'rw' }], network: [{ host: 'a.test', port: 80 }] },
      { ...mounts(['/project', 'ro']), ...reach(['b.test'], [443]) },
    );
    const where = (setting: string) => `Add it to ${setting} in the settings, or to the context that the call brings.`;
    expect(violations).toEqual([
      {
        code: 'E3105',
        wanted: 'filesystem:rw:/etc',
        allowed: ['filesystem:ro:/project'],
        message: says('filesystem:rw:/etc', 'agent sandbox context', where('agent.mounts')),
      },
      {
        code: 'E3104',
        wanted: 'network:a.test:80',
        allowed: ['network:b.test:443'],
        message: says('network:a.test:80', 'agent sandbox context', where('agent.allowed_hosts')),
      },
    ]);
  });

  test('PRM-03.3 PRM-03.4 PRM-03.5 of a token names what the token allows, ten at most, and of secrets nothing', () => {
    const paths = Array.from({ length: 11 }, (_, at) => `/p${at}`);
    const hosts = Array.from({ length: 11 }, (_, at) => `h${at}.test`);
    const claims = claimsOf({
      filesystem_permissions: { allowed_paths: paths, mode: 'ro' },
      network_permissions: { allowed_hosts: hosts, allowed_ports: [80, 443] },
      credential_permissions: { allowed_secrets: ['other'] },
    });
    const wanted: ToolPermissions = {
      filesystem: [{ path: '/etc', mode: 'ro' }],
      network: [
        { host: 'a.test', port: 80 },
        { host: '*.b.test', port: 80 },
      ],
      credentials: ['key'],
    };
    const addresses = hosts.slice(0, 10).map((host) => `network:${host}:80,443`);
    const about = (code: string, what: string, allowed?: string[]) => ({
      code,
      wanted: what,
      ...(allowed === undefined ? {} : { allowed }),
      message: says(what, 'capability token', ASK),
    });
    expect(violationsOf(wanted, {}, {}, claims)).toEqual([
      about(
        'E3203',
        'filesystem:ro:/etc',
        paths.slice(0, 10).map((path) => `filesystem:ro:${path}`),
      ),
      about('E3204', 'network:a.test:80', addresses),
      about('E3204', 'network:*.b.test:80', addresses),
      about('E3205', 'credential:key'),
    ]);
    const { filesystem_permissions: _files, network_permissions: _network, ...bare } = claims;
    expect(violationsOf(wanted, {}, {}, bare)).toMatchObject([{ allowed: [] }, { allowed: [] }, { allowed: [] }, {}]);
    const anyPort = claimsOf({ network_permissions: { allowed_hosts: ['b.test'], allowed_ports: [1, 0] } });
    const { network } = { network: wanted.network?.slice(0, 1) ?? [] };
    expect(violationsOf({ network }, {}, {}, anyPort)).toMatchObject([{ allowed: ['network:b.test:*'] }]);
    const ports = Array.from({ length: 11 }, (_, at) => at + 1);
    expect(violationsOf({ network }, reach(['x.test'], ports))).toMatchObject([
      { allowed: ['network:x.test:1,2,3,4,5,6,7,8,9,10'] },
    ]);
  });

  test('SBX-01.3 of a pattern is that of the first side that leaves nothing of it, once', () => {
    const pattern = { network: [{ host: '*.a.test', port: 1 }] };
    const sides = { requestContext: reach(['*.c.test']) };
    expect(violationsOf(pattern, reach(['*.b.test']), sides)).toMatchObject([
      { code: 'E3104', wanted: 'network:*.a.test:1', allowed: ['network:*.b.test:*'] },
    ]);
    expect(grantFor(pattern, reach(['x.a.test', '*.b.a.test']), { requestContext: {} })).toMatchObject({
      network: [
        { host: 'x.a.test', port: 1 },
        { host: '*.b.a.test', port: 1 },
      ],
    });
  });

  test('SBX-01.4 of other name servers names ten of those that the context wants', () => {
    const servers = Array.from({ length: 11 }, (_, at) => `9.9.9.${at}`);
    const wanted = { network: [{ host: '*', port: 1 }] };
    expect(violationsOf(wanted, reach(['*'], [0], servers), { dnsServers: ['1.1.1.1'] })).toEqual([
      {
        code: 'E3104',
        wanted: 'network:*:1',
        allowed: servers.slice(0, 10),
        message: expect.stringMatching(
          /^The agent sandbox context wants \* to be looked up by name servers of its own/,
        ),
      },
    ]);
  });

  test('PRM-03 of what is no path or host comes first, and says what the manifest has to hold', () => {
    const permissions: ToolPermissions = {
      filesystem: [
        { path: 'x', mode: 'ro' },
        { path: '/outside', mode: 'rw' },
      ],
      network: [{ host: 'a b', port: 1 }],
    };
    const says = (wanted: string, form: string) =>
      `The tool's manifest asks for ${wanted}, which is no ${form}. Correct the manifest.`;
    expect(violationsOf(permissions, mounts())).toMatchObject([
      { code: 'E3203', wanted: 'filesystem:ro:x', message: says('filesystem:ro:x', 'absolute path') },
      { code: 'E3204', wanted: 'network:a b:1', message: says('network:a b:1', 'exact host, *.name or *') },
      { code: 'E3105', wanted: 'filesystem:rw:/outside' },
    ]);
  });

  test('PRM-03 lists fifty violations, and the first gives code and message', () => {
    const credentials = Array.from({ length: 51 }, (_, at) => `s${at}`);
    const failed = grantFor({ credentials }, {});
    expect(failed).toMatchObject({ code: 'E3205', message: says('credential:s0', 'capability token', ASK) });
    expect(violationsOf({ credentials }, {})).toHaveLength(50);
  });

  test('SBX-01 of a context of another agent or tenant names which of them differs', () => {
    for (const [context, member] of [
      [{ agent_did: 'did:b' }, 'agent_did'],
      [{ tenant_id: 'u' }, 'tenant_id'],
    ] as const) {
      const message = `The agent sandbox context names another ${member} than the capability token.`;
      expect(grantFor({}, context)).toMatchObject({ code: 'E3209', message });
      expect(grantFor({}, {}, { requestContext: context })).toMatchObject({ code: 'E3209', message });
    }
  });
});
