import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { chooseDriver } from '../../choose-driver.ts';
import { goodPodSpec, PATHS } from './fake/fake-cluster.fixture.ts';
import { type Opened, openFake, podThat, specOf } from './fake/opened.fixture.ts';
import { createKubernetesDriver } from './kubernetes-driver.ts';
import { PERMISSIONS } from './probe.ts';

let opened: Opened | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

async function open(): Promise<Opened> {
  opened = await openFake({}, { problemKeptMs: 0, requestTries: 2 });
  return opened;
}

test('SBX-02 a cluster with everything works, and its weaknesses are told', async () => {
  const { driver } = await open();
  const probe = await driver.probe();
  expect(probe).toMatchObject({ works: true, version: 'v1.33.1' });
  expect(probe.weaknesses).toHaveLength(3);
});

const template = (pod: object, rest: object = {}): object => ({
  metadata: { name: 'template' },
  spec: { podTemplate: { spec: { ...goodPodSpec(), ...pod } }, networkPolicy: {}, ...rest },
});
const container = (changes: object): object => ({
  containers: [{ ...(goodPodSpec()['containers'] as object[])[0], ...changes }],
});

test.each<[string, (opened: Opened) => void, RegExp]>([
  [
    'does not answer',
    ({ cluster }) => {
      cluster.behaviour.fault = () => 'drop';
    },
    /cannot be reached/,
  ],
  [
    'is too old',
    ({ cluster }) => {
      cluster.behaviour.version = { major: '1', minor: '29+', gitVersion: 'v1.29.4' };
    },
    /v1\.29\.4; 1\.30 or newer/,
  ],
  [
    'refuses the credentials',
    ({ cluster }) => {
      cluster.behaviour.token = 'x';
    },
    /does not accept the credentials/,
  ],
  [
    'lacks the kinds',
    ({ cluster }) => {
      cluster.behaviour.fault = ({ path }) =>
        path.endsWith('extensions.agents.x-k8s.io/v1beta1') ? { status: 404 } : undefined;
    },
    /does not serve sandboxclaims at extensions\.agents\.x-k8s\.io\/v1beta1/,
  ],
  [
    'grants too little',
    ({ cluster }) => {
      cluster.behaviour.denied = ({ verb, subresource }) => verb === 'create' && subresource === 'exec';
    },
    /may not create pods\/exec in the namespace tools/,
  ],
  [
    'has no such pool',
    ({ cluster }) => {
      cluster.store.remove(PATHS.pools, 'pool');
    },
    /no warm pool pool/,
  ],
  [
    'has no such template',
    ({ cluster }) => {
      cluster.store.remove(PATHS.templates, 'template');
    },
    /template template .* is not there/,
  ],
])('SBX-02.7 a cluster that %s is told with what to do', async (_what, change, problem) => {
  const all = await open();
  change(all);
  expect(await all.driver.probe()).toMatchObject({ works: false, problem: expect.stringMatching(problem) });
  await expect(all.driver.start(specOf())).rejects.toMatchObject({ code: 'E3101' });
});

test.each<[string, object, RegExp]>([
  ['is privileged', template(container({ securityContext: { privileged: true } })), /privileged/],
  ['runs as root', template(container({ securityContext: { allowPrivilegeEscalation: false } })), /runAsNonRoot/],
  ['has no limit of memory', template(container({ resources: { limits: { cpu: '1' } } })), /limit of memory/],
  [
    'has no limit of processor time',
    template(container({ resources: { limits: { memory: '1Gi' } } })),
    /processor time/,
  ],
  ['mounts a token', template({ automountServiceAccountToken: true }), /automountServiceAccountToken/],
  ['has the default network', template({}, { networkPolicy: undefined }), /lets its sandboxes out/],
  ['lets out to somewhere', template({}, { networkPolicy: { egress: [{}] } }), /lets its sandboxes out/],
  ['leaves the network to others', template({}, { networkPolicyManagement: 'Unmanaged' }), /lets its sandboxes out/],
])('SBX-02 a template that %s makes no sandbox', async (_what, object, problem) => {
  const { cluster, driver } = await open();
  cluster.store.put(PATHS.templates, object as never);
  expect(await driver.probe()).toMatchObject({ works: false, problem: expect.stringMatching(problem) });
});

test('an operator may vouch for the network', async () => {
  const { cluster, another } = await open();
  cluster.store.put(PATHS.templates, template({}, { networkPolicyManagement: 'Unmanaged' }) as never);
  expect(await another({ networkPolicy: 'external' }).probe()).toMatchObject({ works: true });
});

test('an empty pool and an unbounded disk are weaknesses', async () => {
  const { cluster, driver } = await open();
  cluster.store.change(PATHS.pools, 'pool', (pool) => ({ ...pool, status: { readyReplicas: 0 } }));
  cluster.store.put(
    PATHS.templates,
    template(container({ resources: { limits: { cpu: '1', memory: '1Gi' } } })) as never,
  );
  const { weaknesses } = await driver.probe();
  expect(weaknesses.join('\n')).toMatch(/no sandbox ready now[\s\S]*ephemeral-storage/);
});

test('SBX-03 the limits that a pool does not keep in full are named, and can be demanded', async () => {
  const { cluster, driver, another } = await open();
  expect((await driver.probe()).weakerLimits).toEqual(['processes', 'disk', 'usage']);
  cluster.store.put(PATHS.templates, template({ runtimeClassName: undefined }) as never);
  const measured = another();
  expect((await measured.probe()).weakerLimits).toEqual(['processes', 'disk']);
  const demanding = chooseDriver([measured], 'namespaces', { limits: ['processes'] });
  await expect(demanding.start(specOf())).rejects.toMatchObject({
    code: 'E3101',
    message: expect.stringContaining('kubernetes: it cannot keep these limits'),
  });
  // Programs may change files of the image, and so the program that measures them.
  const securityContext = { allowPrivilegeEscalation: false, runAsNonRoot: true };
  const changeable = template({ runtimeClassName: undefined, ...container({ securityContext }) });
  cluster.store.put(PATHS.templates, changeable as never);
  expect((await another().probe()).weakerLimits).toEqual(['processes', 'disk', 'usage']);
});

test('SBX-03 a call in a pod says which of its limits were not kept in full', async () => {
  const { cluster, driver } = await open();
  cluster.behaviour.newPod = () => podThat((events) => events.exit(0));
  await using running = await driver.start(specOf());
  expect((await running.exited).weakerLimits).toEqual(['processes', 'disk', 'usage']);
});

test('a problem is forgotten, a success is not', async () => {
  const { cluster, driver } = await open();
  cluster.behaviour.fault = () => ({ status: 503 });
  expect((await driver.probe()).works).toBe(false);
  cluster.behaviour.fault = () => undefined;
  expect((await driver.probe()).works).toBe(true);
  const count = cluster.requests.length;
  await driver.probe();
  expect(cluster.requests).toHaveLength(count);
});

test('the permissions of the documentation are those that are asked for', async () => {
  const { readFileSync } = await import('node:fs');
  const page = readFileSync(join(import.meta.dirname, '../../../../../docs/sandboxes/kubernetes.md'), 'utf8');
  for (const [verb, group, resource] of PERMISSIONS) {
    const rule = new RegExp(
      `apiGroups: \\["${group}"\\]\\n\\s+resources: \\[[^\\]]*"${resource}"[^\\]]*\\]\\n\\s+verbs: \\[[^\\]]*"${verb}"`,
    );
    expect(page, `${verb} ${resource}`).toMatch(rule);
  }
});

test('outside a cluster and without a kubeconfig the operator is told', async () => {
  const driver = createKubernetesDriver({ pool: 'pool' }, { source: { environment: {} } });
  expect(await driver.probe()).toMatchObject({ works: false, problem: expect.stringContaining('kubeconfig') });
});

test('a kubeconfig with a client certificate, a token or a token file leads to the cluster', async () => {
  const { cluster } = await open();
  cluster.behaviour.newPod = () => podThat((events) => events.exit(0));
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  writeFileSync(join(folder, 'ca.crt'), cluster.ca);
  writeFileSync(join(folder, 'token'), cluster.behaviour.token);
  const users = {
    certificate: {
      'client-certificate-data': base64(cluster.client.cert),
      'client-key-data': base64(cluster.client.key),
    },
    token: { token: cluster.behaviour.token },
    'token-file': { tokenFile: 'token' },
    program: { exec: { command: 'sh' } },
    nobody: {},
  };
  const config = {
    'current-context': 'token',
    clusters: [{ name: 'c', cluster: { server: cluster.server, 'certificate-authority': 'ca.crt' } }],
    users: Object.entries(users).map(([name, user]) => ({ name, user })),
    contexts: Object.keys(users).map((name) => ({ name, context: { cluster: 'c', user: name, namespace: 'tools' } })),
  };
  const kubeconfig = join(folder, 'config');
  // Every JSON text is also YAML.
  writeFileSync(kubeconfig, JSON.stringify(config));
  const problems: (string | undefined)[] = [];
  for (const context of [undefined, ...Object.keys(users), 'missing']) {
    const driver = createKubernetesDriver({ pool: 'pool', kubeconfig, ...(context === undefined ? {} : { context }) });
    const probe = await driver.probe();
    problems.push(probe.works ? undefined : probe.problem);
    if (probe.works) expect(await (await driver.start(specOf())).exited).toMatchObject({ code: 0 });
    driver.close();
  }
  expect(problems).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    expect.stringContaining('uses exec'),
    expect.stringContaining('does not accept the credentials'),
    expect.stringContaining('has no context "missing"'),
  ]);
  rmSync(folder, { recursive: true });
});

test.each<[string, string, RegExp]>([
  ['is no YAML', '{', /is not YAML/],
  ['has no current context', '{}', /no context/],
  [
    'has a server without TLS',
    'current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: "http://x"}}]\nusers: [{name: a, user: {}}]',
    /https/,
  ],
  [
    'trusts anybody',
    'current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: "https://x", insecure-skip-tls-verify: true}}]\nusers: [{name: a, user: {}}]',
    /insecure-skip-tls-verify/,
  ],
])('a kubeconfig that %s is refused', async (_what, text, problem) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const kubeconfig = join(folder, 'config');
  writeFileSync(kubeconfig, text);
  const probe = await createKubernetesDriver({ pool: 'pool', kubeconfig }).probe();
  expect(probe.problem).toMatch(problem);
  rmSync(folder, { recursive: true });
});

test('a server with another authority is not spoken to', async () => {
  const { cluster, folder, another } = await open();
  writeFileSync(join(folder, 'ca.crt'), cluster.client.cert);
  expect(await another().probe()).toMatchObject({
    works: false,
    problem: expect.stringContaining('cannot be reached'),
  });
  expect(cluster.requests).toEqual([]);
});
