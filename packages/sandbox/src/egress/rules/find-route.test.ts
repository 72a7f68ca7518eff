import type { UrlPolicy } from '@sallyport/guards';
import { expect, test } from 'vitest';
import { EGRESS_DEFAULTS } from '../settings.ts';
import { type FindRoute, routesOf } from './find-route.ts';
import { hostRules } from './host-rules.ts';

interface Case {
  readonly answers: readonly (readonly string[])[];
  readonly rows?: [string, number][];
  readonly policy?: UrlPolicy;
  readonly pinnedMs?: number;
}

function find({
  answers,
  rows = [
    ['a.test', 443],
    ['a.test', 80],
  ],
  policy = {},
  pinnedMs = 60_000,
}: Case): {
  route: FindRoute;
  asked: string[];
} {
  const rules = hostRules(rows.map(([host, port]) => ({ host, port })));
  if ('fault' in rules) throw new Error('fault');
  const asked: string[] = [];
  const resolver = async (host: string): Promise<readonly string[]> => {
    asked.push(host);
    return answers[Math.min(asked.length, answers.length) - 1] ?? [];
  };
  return { asked, route: routesOf({ rules, policy, resolver, bounds: { ...EGRESS_DEFAULTS, pinnedMs } }) };
}

const PUBLIC = '93.184.216.34';

test('SBX-04.2 a name is looked up once and leads where it led first', async () => {
  const { route, asked } = find({ answers: [[PUBLIC], ['127.0.0.1']] });
  for (const port of [443, 443, 80]) expect(await route('a.test', port)).toEqual({ addresses: [PUBLIC] });
  expect(asked).toEqual(['a.test']);
});

test('SBX-04.2 SBX-04.3 a name that turns private after its pin has expired is closed', async () => {
  const { route } = find({ answers: [[PUBLIC], ['127.0.0.1']], pinnedMs: 0 });
  expect(await route('a.test', 443)).toEqual({ addresses: [PUBLIC] });
  expect(await route('a.test', 443)).toHaveProperty('why');
});

test.each([
  '127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '::1',
  'fd00::1',
  'fe80::1',
  '::ffff:127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
])('SBX-04.3 a name that leads to %s is refused, also beside a public address', async (address) => {
  for (const answers of [[address], [PUBLIC, address]]) {
    expect(await find({ answers: [answers] }).route('a.test', 443)).toHaveProperty('why');
  }
});

test('SBX-04 what is not granted is not looked up', async () => {
  const { route, asked } = find({ answers: [[PUBLIC]] });
  for (const [host, port] of [
    ['b.test', 443],
    ['a.test', 8443],
    ['93.184.216.34', 443],
    ['sub.a.test', 443],
  ] as const) {
    expect(await route(host, port)).toHaveProperty('why');
  }
  expect(asked).toEqual([]);
});

test('an address that the grant names itself is meant; one that a pattern opens has to be public', async () => {
  const rows: [string, number][] = [
    ['10.0.0.1', 80],
    ['localhost', 80],
    ['*', 81],
  ];
  const { route } = find({ answers: [['127.0.0.1']], rows });
  expect(await route('10.0.0.1', 80)).toEqual({ addresses: ['10.0.0.1'] });
  expect(await route('localhost', 80)).toEqual({ addresses: ['127.0.0.1'] });
  for (const host of ['10.0.0.1', 'localhost', '169.254.169.254', 'metadata.google.internal', 'fd00::1']) {
    expect(await route(host, 81)).toHaveProperty('why');
  }
});

test('a policy that denies an address wins over the grant', async () => {
  const policy = { deniedAddresses: ['10.0.0.0/8'] };
  expect(await find({ answers: [], rows: [['10.0.0.1', 80]], policy }).route('10.0.0.1', 80)).toHaveProperty('why');
});

test('a name without an address is looked up again', async () => {
  const { route } = find({ answers: [[], [PUBLIC]] });
  expect(await route('a.test', 443)).toHaveProperty('why');
  expect(await route('a.test', 443)).toEqual({ addresses: [PUBLIC] });
});

test('a resolver that never answers is given up', async () => {
  const rules = hostRules([{ host: 'a.test', port: 80 }]);
  if ('fault' in rules) throw new Error('fault');
  const bounds = { ...EGRESS_DEFAULTS, connectTimeoutMs: 5 };
  const route = routesOf({ rules, policy: {}, resolver: () => new Promise(() => {}), bounds });
  expect(await route('a.test', 80)).toHaveProperty('why');
});
