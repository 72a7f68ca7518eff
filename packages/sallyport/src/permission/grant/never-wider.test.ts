import { domainToASCII } from 'node:url';
import { isFailure } from '@sallyport/std/error/failure';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentSandboxContext, ResourceLimits } from '../../../api/schemas/agent-sandbox-context.ts';
import type { FilesystemPermission, NetworkPermission } from '../../../api/schemas/tool-manifest.ts';
import { claimsOf, grantOf, manifestOf } from './grant.fixture.ts';

// The expected results, computed from the specification in another way than the code under test does.
const partsOf = (path: string): string[] =>
  new URL(`file://${path.replaceAll(/\/+/g, '/')}`).pathname.split('/').filter((part) => part !== '');
const covers = (outer: FilesystemPermission, inner: FilesystemPermission): boolean => {
  const below = partsOf(inner.path);
  return (outer.mode === 'rw' || inner.mode === 'ro') && partsOf(outer.path).every((part, at) => below[at] === part);
};

/** Different spellings of a few hosts, each with the host that it names. */
const HOSTS: readonly (readonly [spelling: string, host: string])[] = [
  ['a.test', 'a.test'],
  ['A.Test', 'a.test'],
  ['a.test.', 'a.test'],
  ['b.a.test', 'b.a.test'],
  ['bücher.test', 'bücher.test'],
  ['xn--bcher-kva.test', 'bücher.test'],
  ['10.0.0.5', '10.0.0.5'],
  ['::ffff:10.0.0.5', '10.0.0.5'],
  ['10.0.1.5', '10.0.1.5'],
  ['2001:db8::5', '2001:db8::5'],
  ['2001:DB8:0::0:5', '2001:db8::5'],
];
const hostOf = (spelling: string): string => HOSTS.find(([one]) => one === spelling)?.[1] ?? '';
const PATTERNS: Readonly<Record<string, (host: string) => boolean>> = {
  '*': () => true,
  '*.a.test': (host) => host === 'b.a.test',
  '10.0.0.0/24': (host) => host === '10.0.0.5',
  '10.0.0.0/8': (host) => host.startsWith('10.'),
  '2001:db8::/32': (host) => host.startsWith('2001:'),
  '0.0.0.0/0': (host) => host.startsWith('10.'),
  '10.0.0.0/33': () => false,
};
const matches = (pattern: string, spelling: string): boolean =>
  PATTERNS[pattern]?.(hostOf(spelling)) ?? hostOf(pattern) === hostOf(spelling);

const path = fc
  .array(fc.constantFrom('a', 'b', '..', '.', '', 'A', 'ab'), { maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);
const permission = fc.record({ path, mode: fc.constantFrom<'ro' | 'rw'>('ro', 'rw') });
const spelling = fc.constantFrom(...HOSTS.map(([one]) => one));
const pattern = fc.oneof(spelling, fc.constantFrom(...Object.keys(PATTERNS)));
const address = fc.record({ host: spelling, port: fc.constantFrom(1, 80, 443) });
const policy = fc.record({
  allowed_hosts: fc.array(pattern, { maxLength: 4 }),
  allowed_ports: fc.array(fc.constantFrom(0, 1, 80, 443), { maxLength: 2 }),
});
const limit = fc.option(fc.integer({ min: 1, max: 6000 }), { nil: undefined });
const limits = fc.record({
  timeout_seconds: limit,
  cpu_millicore_limit: limit,
  memory_mb_limit: limit,
  network_bandwidth_mbps: limit,
});
const context = fc.record({
  filesystem: fc.option(fc.array(permission, { maxLength: 3 }), { nil: undefined, freq: 3 }),
  network: fc.option(policy, { nil: undefined, freq: 3 }),
  limits: fc.option(limits, { nil: undefined, freq: 3 }),
});
type Context = typeof context extends fc.Arbitrary<infer Value> ? Value : never;

const contextOf = ({ filesystem, network, limits: bounds }: Context): AgentSandboxContext => ({
  ...(filesystem === undefined ? {} : { filesystem_policy: { mounts: filesystem } }),
  ...(network === undefined ? {} : { network_policy: network }),
  ...(bounds === undefined ? {} : { resource_limits: limitsOf(bounds) }),
});
const limitsOf = (bounds: object): ResourceLimits =>
  Object.fromEntries(Object.entries(bounds).filter(([, value]) => value !== undefined));

const inPaths = (side: readonly FilesystemPermission[] | undefined, wanted: FilesystemPermission): boolean =>
  side?.some((outer) => covers(outer, wanted)) ?? true;
const inPolicy = (side: Context['network'], { host, port }: NetworkPermission): boolean =>
  side === undefined ||
  (side.allowed_hosts.some((one) => matches(one, host)) && side.allowed_ports.some((one) => one === 0 || one === port));

test('the spellings of this test are spellings', () => {
  expect(domainToASCII('bücher.test')).toBe('xn--bcher-kva.test');
});

/** The limits as members of a manifest. */
const configOf = (tool: ResourceLimits, output: number | undefined) => ({
  ...(tool.timeout_seconds === undefined ? {} : { default_timeout_seconds: tool.timeout_seconds }),
  ...(tool.cpu_millicore_limit === undefined ? {} : { default_cpu_millicore_limit: tool.cpu_millicore_limit }),
  ...(tool.memory_mb_limit === undefined ? {} : { default_memory_mb_limit: tool.memory_mb_limit }),
  ...(output === undefined ? {} : { output_bytes_max: output }),
});

test('PRM-03.1 SBX-01 a grant is never wider than token, manifest, agent context or call, and what all cover is never refused', () => {
  fc.assert(
    fc.property(
      fc.record({
        filesystem: fc.array(permission, { maxLength: 2 }),
        network: fc.array(address, { maxLength: 2 }),
        token: fc.record({ paths: fc.array(path, { maxLength: 3 }), mode: permission.map(({ mode }) => mode), policy }),
        agent: context,
        call: context,
        asked: limits,
        tool: limits,
        output: limit,
      }),
      ({ filesystem, network, token, agent, call, asked, tool, output }) => {
        const grant = grantOf({
          manifest: manifestOf({ filesystem, network }, configOf(limitsOf(tool), output)),
          claims: claimsOf({
            filesystem_permissions: { allowed_paths: token.paths, mode: token.mode },
            network_permissions: token.policy,
          }),
          agentContext: contextOf(agent),
          requestContext: contextOf(call),
          requestLimits: limitsOf(asked),
        });
        const tokenSide = token.paths.map((one) => ({ path: one, mode: token.mode }));
        const pathsOk = filesystem.every((one) =>
          [tokenSide, agent.filesystem, call.filesystem].every((side) => inPaths(side, one)),
        );
        const hostsOk = network.every((one) =>
          [token.policy, agent.network, call.network].every((side) => inPolicy(side, one)),
        );
        const most = {
          timeout_seconds: 600,
          cpu_millicore_limit: 4000,
          memory_mb_limit: 4096,
          network_bandwidth_mbps: 1000,
        };
        const bound = (name: keyof typeof most): number =>
          Math.min(most[name], agent.limits?.[name] ?? Infinity, call.limits?.[name] ?? Infinity);
        const names = Object.keys(most) as (keyof typeof most)[];
        const limitsOk = names.every((name) => {
          const wanted = asked[name] ?? (name === 'network_bandwidth_mbps' ? undefined : tool[name]);
          return wanted === undefined || wanted <= bound(name);
        });
        expect(!isFailure(grant)).toBe(pathsOk && hostsOk && limitsOk);
        if (isFailure(grant)) return;
        const told = grant.limits;
        expect(told.timeoutMs).toBeLessThanOrEqual(bound('timeout_seconds') * 1000);
        expect(told.cpuMillicores).toBeLessThanOrEqual(bound('cpu_millicore_limit'));
        expect(told.memoryMb).toBeLessThanOrEqual(bound('memory_mb_limit'));
        expect(told.networkBandwidthMbps).toBeLessThanOrEqual(bound('network_bandwidth_mbps'));
        expect(told.outputBytesMax).toBeLessThanOrEqual(Math.min(output ?? 1000, 5000));
        expect([told.processesMax, told.diskMb]).toEqual([64, 64]);
        for (const granted of grant.filesystem)
          for (const side of [filesystem, tokenSide, agent.filesystem, call.filesystem])
            expect(inPaths(side, granted)).toBe(true);
        expect(grant.network.length).toBe(network.length);
      },
    ),
    { numRuns: 2000 },
  );
});

test.each<[keyof ResourceLimits, number, string, string]>([
  ['timeout_seconds', 11, '11 s', '10 s'],
  ['cpu_millicore_limit', 11, '11 millicores', '10 millicores'],
  ['memory_mb_limit', 11, '11 MB', '10 MB'],
  ['network_bandwidth_mbps', 11, '11 Mbit/s', '10 Mbit/s'],
])('SBX-01.2 E3102 says which limit, and both values: %s', (name, wanted, told, allowed) => {
  const question = { manifest: manifestOf({}), claims: claimsOf() };
  const agentContext = { resource_limits: { [name]: 10 } };
  expect(grantOf({ ...question, agentContext, requestLimits: { [name]: wanted } })).toMatchObject({
    code: 'E3102',
    details: { violations: [{ limit: name, wanted: `${name}: ${told}`, allowed: [allowed] }] },
  });
  expect(isFailure(grantOf({ ...question, agentContext, requestLimits: { [name]: 10 } }))).toBe(false);
  const lowered = grantOf({ ...question, agentContext });
  const values = isFailure(lowered) ? [] : Object.values(lowered.limits);
  expect(values.includes(10) || values.includes(10_000)).toBe(true);
});

test('SBX-01 of a pattern the grant holds exactly the names that token and contexts allow', () => {
  const names = HOSTS.filter(([one]) => !/[:\d]/.test(one)).map(([one]) => one);
  const covers = (rows: readonly NetworkPermission[], host: string): boolean =>
    rows.some((row) => row.host === '*' || row.host === domainToASCII(hostOf(host)) || belowOf(row.host, host));
  const belowOf = (pattern: string, host: string): boolean =>
    pattern.startsWith('*.') && domainToASCII(hostOf(host)).endsWith(pattern.slice(1));
  fc.assert(
    fc.property(fc.constantFrom('*', '*.a.test', '*.A.Test'), policy, context, (wanted, token, agent) => {
      const manifest = manifestOf({ network: [{ host: wanted, port: 443 }] });
      const claims = claimsOf({ network_permissions: token });
      const grant = grantOf({
        manifest,
        claims,
        agentContext: contextOf({ ...agent, limits: undefined }),
      });
      const rows = isFailure(grant) ? [] : grant.network;
      for (const host of names) {
        const everyone =
          (wanted === '*' || hostOf(host) === 'b.a.test') &&
          inPolicy(token, { host, port: 443 }) &&
          inPolicy(agent.network, { host, port: 443 });
        expect(covers(rows, host), `${host} in ${JSON.stringify(rows)}`).toBe(everyone);
      }
    }),
    { numRuns: 1000 },
  );
});
