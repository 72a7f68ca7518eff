import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { ownMark } from '../../linux/crash/layer-mark.ts';
import { LABELS, ownLabels } from './claim/claims.ts';
import { goodPodSpec, PATHS, type SeenRequest } from './fake/fake-cluster.fixture.ts';
import { type Opened, openFake, podThat, specOf } from './fake/opened.fixture.ts';
import type { KubernetesBounds, KubernetesSettings } from './settings.ts';

let opened: Opened | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

/** Opens a driver on a fake cluster whose tools end at once with 0. */
async function open(
  settings: Partial<KubernetesSettings> = {},
  bounds: Partial<KubernetesBounds> = {},
): Promise<Opened> {
  opened = await openFake(settings, bounds);
  opened.cluster.behaviour.newPod = () => podThat((events) => events.exit(0));
  return opened;
}

const isClaim = ({ method, path }: SeenRequest): boolean => method === 'POST' && path === PATHS.claims;
const isWatch = ({ query }: SeenRequest): boolean => query.get('watch') === '1';
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await sleep(2);
};

test('SBX-02.5 a claim names the pool and its lease, and carries nothing of the job', async () => {
  const { cluster, driver } = await open();
  const secret = 'do-not-tell';
  const running = await driver.start(specOf({ command: ['/bin/tool', secret], environment: { KEY: secret } }));
  expect(await running.exited).toMatchObject({ code: 0 });
  const claim = cluster.requests.find(isClaim)?.body as { metadata: object; spec: Record<string, unknown> };
  expect(claim.spec).toEqual({
    warmPoolRef: { name: 'pool' },
    lifecycle: { shutdownTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/), shutdownPolicy: 'Delete' },
  });
  expect(claim.metadata).toMatchObject({ labels: ownLabels('sallyport'), annotations: { 'sallyport/tool': 'test' } });
  const told = cluster.requests.map(({ path, query, body }) => [path, query.toString(), JSON.stringify(body)].join());
  expect(told.join('\n')).not.toContain(secret);
  expect(Buffer.concat(cluster.execs[0]?.input ?? []).toString('utf8')).toContain(secret);
});

test('SBX-08 claim, sandbox and pod are gone when a tool has ended', async () => {
  const { cluster, driver } = await open();
  await (await driver.start(specOf())).exited;
  await until(() => cluster.store.list(PATHS.pods).length === 0);
  expect([cluster.store.list(PATHS.claims), cluster.store.list(PATHS.sandboxes)]).toEqual([[], []]);
});

test('SBX-08 a claim that the cluster deleted first is no fault', async () => {
  const { cluster, driver } = await open();
  cluster.behaviour.newPod = () =>
    podThat((events) => {
      for (const { metadata } of cluster.store.list(PATHS.claims)) cluster.store.remove(PATHS.claims, metadata.name);
      events.exit(0);
    });
  const running = await driver.start(specOf());
  expect(await running.exited).toMatchObject({ code: 0 });
  expect(cluster.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

describe('SBX-02 a sandbox is found', () => {
  test('after a while, over watches that drop', async () => {
    const { cluster, driver } = await open();
    cluster.behaviour.readyAfterMs = 150;
    const dropping = setInterval(() => cluster.watches.drop(), 15);
    const running = await driver.start(specOf());
    clearInterval(dropping);
    expect(await running.exited).toMatchObject({ code: 0 });
    expect(cluster.requests.filter(isWatch).length).toBeGreaterThan(2);
    expect(cluster.requests.filter(isClaim)).toHaveLength(1);
  });

  test('after a version that is too old (410)', async () => {
    const { cluster, driver } = await open();
    cluster.behaviour.claimed = async (claim) => {
      await until(() => cluster.watches.count() > 0);
      cluster.store.compact();
      cluster.watches.drop();
      await until(() =>
        cluster.requests.some(({ method, path }) => method === 'GET' && path.startsWith(`${PATHS.claims}/`)),
      );
      cluster.makeReady(claim);
    };
    expect(await (await driver.start(specOf())).exited).toMatchObject({ code: 0 });
  });

  test('from a bookmark, without asking for the object again', async () => {
    const { cluster, driver } = await open();
    cluster.behaviour.claimed = async (claim) => {
      await until(() => cluster.watches.count() > 0);
      cluster.store.compact();
      cluster.watches.bookmark();
      await sleep(20);
      cluster.watches.drop();
      await until(() => cluster.watches.count() > 0);
      cluster.makeReady(claim);
    };
    expect(await (await driver.start(specOf())).exited).toMatchObject({ code: 0 });
    const asked = cluster.requests.filter(
      ({ method, path, query }) => method === 'GET' && path.startsWith(`${PATHS.claims}/`) && !query.get('watch'),
    );
    expect(asked).toEqual([]);
  });

  test('over a watch that tells nothing', async () => {
    const { cluster, driver } = await open({}, { watchQuietMs: 30 });
    cluster.behaviour.fault = (request) =>
      isWatch(request) && cluster.requests.filter(isWatch).length < 3 ? 'hang' : undefined;
    cluster.behaviour.readyAfterMs = 20;
    expect(await (await driver.start(specOf())).exited).toMatchObject({ code: 0 });
  });

  test('over server errors, conflicts and lost answers', async () => {
    const { cluster, driver } = await open();
    await driver.probe();
    let count = 0;
    cluster.behaviour.fault = ({ path }) => {
      if (path.endsWith('/exec')) return undefined;
      count += 1;
      const faults = [
        { status: 503 },
        { status: 409, reason: 'Conflict' },
        'drop',
        undefined,
        { status: 429 },
        undefined,
      ] as const;
      return faults[count % faults.length];
    };
    const running = await driver.start(specOf());
    cluster.behaviour.fault = () => undefined;
    expect(await running.exited).toMatchObject({ code: 0 });
    expect(cluster.store.list(PATHS.claims)).toEqual([]);
  });

  test('once, when the answer to the claim was lost', async () => {
    const { cluster, driver } = await open();
    let lost = false;
    cluster.behaviour.after = (request) => {
      if (!isClaim(request) || lost) return undefined;
      lost = true;
      return 'drop';
    };
    expect(await (await driver.start(specOf())).exited).toMatchObject({ code: 0 });
    const names = cluster.requests
      .filter(isClaim)
      .map(({ body }) => (body as { metadata: { name: string } }).metadata.name);
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(1);
    expect(cluster.execs.filter(({ command }) => command[2]?.startsWith("n='"))).toHaveLength(1);
  });
});

describe('SBX-02 no sandbox is a refusal', () => {
  test('that gives the reason of the cluster when time is up, and leaves no claim', async () => {
    const { cluster, driver } = await open({}, { readyTimeoutMs: 200 });
    cluster.behaviour.claimed = ({ metadata }) => {
      const conditions = [{ type: 'Ready', status: 'False', reason: 'SandboxNotReady', message: 'no node has room' }];
      cluster.store.change(PATHS.claims, metadata.name, (object) => ({ ...object, status: { conditions } }));
    };
    await expect(driver.start(specOf())).rejects.toMatchObject({
      code: 'E3101',
      message: expect.stringContaining('SandboxNotReady: no node has room'),
    });
    expect(cluster.store.list(PATHS.claims)).toEqual([]);
  });

  test('at once when the pool is not there', async () => {
    const { cluster, driver } = await open({}, { readyTimeoutMs: 600_000 });
    cluster.behaviour.claimed = ({ metadata }) => {
      const conditions = [
        { type: 'Ready', status: 'False', reason: 'WarmPoolNotFound', message: 'SandboxWarmPool "pool" not found' },
      ];
      cluster.store.change(PATHS.claims, metadata.name, (object) => ({ ...object, status: { conditions } }));
    };
    await expect(driver.start(specOf())).rejects.toMatchObject({
      code: 'E3101',
      message: expect.stringContaining('SandboxWarmPool "pool" not found'),
    });
  });

  test('when the claim is deleted by somebody', async () => {
    const { cluster, driver } = await open();
    cluster.behaviour.claimed = async ({ metadata }) => {
      await until(() => cluster.watches.count() > 0);
      cluster.store.remove(PATHS.claims, metadata.name);
    };
    await expect(driver.start(specOf())).rejects.toMatchObject({ code: 'E3101' });
  });

  test('when the API server hangs or is gone', async () => {
    const { cluster, driver } = await open({}, { requestTimeoutMs: 100, requestTries: 2 });
    await driver.probe();
    cluster.behaviour.fault = () => 'hang';
    await expect(driver.start(specOf())).rejects.toMatchObject({
      code: 'E3101',
      message: expect.stringContaining('cannot be reached'),
    });
    cluster.behaviour.fault = () => 'drop';
    await expect(driver.start(specOf())).rejects.toMatchObject({
      code: 'E3101',
      message: expect.stringContaining('cannot be reached'),
    });
  });

  test('when a watch says what is no event', async () => {
    const { cluster, driver } = await open({}, { readyTimeoutMs: 300 });
    cluster.behaviour.claimed = async () => {
      for (const line of ['not json', '{}', '{"type":"ADDED","object":null}', 'x'.repeat(2_000_000)]) {
        await until(() => cluster.watches.count() > 0);
        cluster.watches.say(line);
        await sleep(10);
      }
    };
    await expect(driver.start(specOf())).rejects.toMatchObject({ code: 'E3101' });
  });

  test('when a permission is missing, which the operator is told', async () => {
    const { cluster, driver } = await open();
    await driver.probe();
    cluster.behaviour.fault = (request) =>
      isClaim(request) ? { status: 403, message: 'sandboxclaims is forbidden' } : undefined;
    await expect(driver.start(specOf())).rejects.toMatchObject({
      code: 'E3101',
      message: expect.stringContaining('sallyport doctor'),
      cause: expect.objectContaining({ message: 'sandboxclaims is forbidden' }),
    });
  });

  test.each<[string, Partial<KubernetesSettings>, object, object, string]>([
    ['weaker than the call asks', {}, { runtimeClassName: 'other' }, { isolation: 'user_kernel' }, 'E3101'],
    ['weaker than the call asks, even with gVisor', {}, {}, { isolation: 'microvm' }, 'E3101'],
    ['weaker than the settings say', { isolation: 'user_kernel' }, { runtimeClassName: undefined }, {}, 'E3101'],
    ['on the network of its node', {}, { hostNetwork: true }, {}, 'E3101'],
    ['with a folder of its node', {}, { volumes: [{ hostPath: { path: '/' } }] }, {}, 'E3101'],
    ['with a token', {}, { volumes: [{ projected: { sources: [{ serviceAccountToken: {} }] } }] }, {}, 'E3101'],
    ['without the container', { container: 'other' }, {}, {}, 'E3101'],
    ['with more memory than the grant', {}, {}, { limits: { ...specOf().limits, memoryMb: 127 } }, 'E3102'],
    [
      'with more of a processor than the grant',
      {},
      {},
      { limits: { ...specOf().limits, cpuMillicores: 1999 } },
      'E3102',
    ],
  ])('when its pod is %s', async (_what, settings, podChanges, specChanges, code) => {
    const { cluster, driver } = await open(settings.isolation === undefined ? {} : settings);
    // The pod itself is checked, not only its template.
    cluster.behaviour.podSpec = () => ({ ...goodPodSpec(), ...podChanges });
    const chosen = settings.container === undefined ? driver : opened?.another();
    if (settings.container !== undefined) {
      cluster.behaviour.podSpec = () => ({ ...goodPodSpec(), containers: [] });
    }
    await expect(chosen?.start(specOf(specChanges))).rejects.toMatchObject({ code });
    expect(cluster.store.list(PATHS.claims)).toEqual([]);
    expect(cluster.execs).toEqual([]);
  });
});

test('SBX-02 each isolation level is given by its runtime class and those above it', async () => {
  const { cluster, driver } = await open();
  for (const [runtimeClassName, isolation] of [
    ['gvisor', 'user_kernel'],
    ['kata-qemu', 'microvm'],
    ['kata', 'user_kernel'],
    ['runc', 'namespaces'],
  ] as const) {
    cluster.behaviour.podSpec = () => ({ ...goodPodSpec(), runtimeClassName });
    expect(await (await driver.start(specOf({ isolation }))).exited).toMatchObject({ code: 0 });
  }
});

test('a token that was rotated is read again', async () => {
  const { cluster, driver, folder } = await open();
  await driver.probe();
  cluster.behaviour.token = 'second-token';
  writeFileSync(`${folder}/token`, 'second-token');
  expect(await (await driver.start(specOf())).exited).toMatchObject({ code: 0 });
  cluster.behaviour.token = 'third-token';
  await expect(driver.start(specOf())).rejects.toMatchObject({
    code: 'E3101',
    message: expect.stringContaining('credentials'),
  });
});

test('SBX-08 claims of dead layers are deleted at the start, and no others', async () => {
  const { cluster, driver } = await open({}, { leaseMs: 60_000, clockSkewMs: 1_000 });
  cluster.behaviour.claimed = () => {};
  const own = ownLabels('sallyport');
  const [namespace = ''] = ownMark().split('-');
  const soon = new Date(Date.now() + 60_000).toISOString();
  const past = new Date(Date.now() - 60_000).toISOString();
  const claims: readonly (readonly [string, Record<string, string>, string])[] = [
    ['dead-here', { ...own, [LABELS.layer]: `${namespace}-999999999-1` }, soon],
    ['lives-elsewhere', { ...own, [LABELS.machine]: 'other', [LABELS.layer]: `${namespace}-999999999-1` }, soon],
    ['lease-over-elsewhere', { ...own, [LABELS.machine]: 'other', [LABELS.layer]: '1-2-3' }, past],
    ['own', own, past],
    ['no-lease', { ...own, [LABELS.machine]: 'other', [LABELS.layer]: '1-2-3' }, 'never'],
    ['of-another-owner', { ...own, [LABELS.owner]: 'else', [LABELS.layer]: `${namespace}-999999999-1` }, past],
  ];
  for (const [name, labels, shutdownTime] of claims) {
    cluster.store.put(PATHS.claims, { metadata: { name, labels }, spec: { lifecycle: { shutdownTime } } });
  }
  await driver.probe();
  const left = cluster.store.list(PATHS.claims).map(({ metadata }) => metadata.name);
  expect(left).toEqual(['lives-elsewhere', 'own', 'no-lease', 'of-another-owner']);
});

test('SBX-08 the lease of a running sandbox is renewed, over conflicts, and not after its end', async () => {
  const { cluster, driver } = await open({}, { renewEveryMs: 20 });
  cluster.behaviour.newPod = () => podThat(() => {});
  const running = await driver.start(specOf());
  const renewals = (): readonly SeenRequest[] => cluster.requests.filter(({ method }) => method === 'PATCH');
  cluster.behaviour.fault = ({ method }) =>
    method === 'PATCH' && renewals().length === 1 ? { status: 409, reason: 'Conflict' } : undefined;
  await until(() => renewals().length > 2);
  expect(renewals()[0]?.body).toEqual({ spec: { lifecycle: { shutdownTime: expect.any(String) } } });
  cluster.execs[0]?.finish({ status: 'Success' });
  await running.exited;
  const count = renewals().length;
  await sleep(60);
  expect(renewals()).toHaveLength(count);
});

test('SBX-08 many at once leave nothing', async () => {
  const { cluster, driver } = await open();
  cluster.behaviour.newPod = () =>
    podThat((events) => {
      events.output(1, Buffer.from('hello'));
      events.exit(0);
    });
  cluster.behaviour.readyAfterMs = 10;
  const runs = Array.from({ length: 24 }, async () => {
    const running = await driver.start(specOf());
    const [said, exit] = await Promise.all([text(running.stdout), running.exited, text(running.stderr)]);
    return [said, exit.code];
  });
  expect(new Set((await Promise.all(runs)).map(String))).toEqual(new Set(['hello,0']));
  expect(cluster.store.list(PATHS.claims)).toEqual([]);
});
