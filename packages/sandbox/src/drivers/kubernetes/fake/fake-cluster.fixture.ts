import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createAuthority } from './certificates.fixture.ts';
import { type FakeExecStream, serveExec, type UpgradeRequest } from './fake-exec.fixture.ts';
import { type FakePod, startRealPod } from './fake-pod.fixture.ts';
import { createFakeStore, type FakeStore, type StoredObject } from './fake-store.fixture.ts';
import { createFakeWatches, type FakeWatches } from './fake-watch.fixture.ts';

export const NAMESPACE = 'tools';
export const TOKEN = 'first-token';
const AGENTS = '/apis/agents.x-k8s.io/v1beta1';
const EXTENSIONS = '/apis/extensions.agents.x-k8s.io/v1beta1';
export const PATHS = {
  claims: `${EXTENSIONS}/namespaces/${NAMESPACE}/sandboxclaims`,
  pools: `${EXTENSIONS}/namespaces/${NAMESPACE}/sandboxwarmpools`,
  templates: `${EXTENSIONS}/namespaces/${NAMESPACE}/sandboxtemplates`,
  sandboxes: `${AGENTS}/namespaces/${NAMESPACE}/sandboxes`,
  pods: `/api/v1/namespaces/${NAMESPACE}/pods`,
} as const;

/** A request that the fake API server received. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** What happens in place of the answer to a request. */
export type Fault = 'drop' | 'hang' | { readonly status: number; readonly message?: string; readonly reason?: string };

/** Behaviour that a test may change at any time. */
export interface Behaviour {
  token: string;
  /** Called before each request; a result replaces the answer. */
  fault: (request: SeenRequest) => Fault | undefined;
  /** Called after a request had its effect; 'drop' loses the answer. */
  after: (request: SeenRequest) => 'drop' | undefined;
  /** The controller's reaction to a claim; default: ready after `readyAfterMs`. */
  claimed: (claim: StoredObject) => Promise<void> | void;
  readyAfterMs: number;
  podSpec: () => object;
  newPod: () => FakePod;
  /** The subprotocol in the answer to an exec request. */
  protocol: string;
  version: object;
  denied: (attributes: Readonly<Record<string, string>>) => boolean;
}

/** A fake API server in this process, with the controllers that the driver needs. */
export interface FakeCluster {
  readonly server: string;
  readonly ca: string;
  readonly client: { readonly cert: string; readonly key: string };
  readonly store: FakeStore;
  readonly watches: FakeWatches;
  readonly behaviour: Behaviour;
  readonly requests: SeenRequest[];
  readonly execs: FakeExecStream[];
  /** Makes a claim ready, as the agent-sandbox controllers do. */
  makeReady(claim: StoredObject): void;
  close(): Promise<void>;
}

/** A pod that the driver accepts. */
export function goodPodSpec(): Record<string, unknown> {
  return {
    runtimeClassName: 'gvisor',
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'tool',
        resources: { limits: { cpu: '2', memory: '128Mi', 'ephemeral-storage': '64Mi' } },
        securityContext: { allowPrivilegeEscalation: false, runAsNonRoot: true, readOnlyRootFilesystem: true },
      },
    ],
    volumes: [],
  };
}

export async function startFakeCluster(): Promise<FakeCluster> {
  const authority = createAuthority();
  const store = createFakeStore();
  const watches = createFakeWatches(store);
  const pods = new Map<string, FakePod>();
  const sockets = new Set<Duplex>();
  const cluster = {
    ca: authority.cert,
    client: authority.issue('layer'),
    store,
    watches,
    requests: [] as SeenRequest[],
    execs: [] as FakeExecStream[],
  };
  const { makeReady, removeSandbox } = createPool(store, pods, () => behaviour);
  const behaviour: Behaviour = usualBehaviour((claim) => makeReady(claim));
  store.onEvent(({ type, collection, object }) => {
    if (collection !== PATHS.claims) return;
    if (type === 'ADDED') queueMicrotask(() => void behaviour.claimed(object));
    if (type === 'DELETED') removeSandbox((object['status'] as { sandbox?: { name?: string } })?.sandbox?.name ?? '');
  });
  seedPool(store);

  const isKnown = (request: IncomingMessage): boolean =>
    request.headers.authorization === `Bearer ${behaviour.token}` || (request.socket as TLSSocket).authorized;
  const upgrade = upgradesOf(cluster, pods, behaviour, isKnown);
  const server = createServer(
    { ...authority.issue('api'), ca: authority.cert, requestCert: true, rejectUnauthorized: false },
    (request, response) => void answer(request, response),
  );
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = await readRequest(request);
    cluster.requests.push(seen);
    if (!isKnown(request)) return refuse(response, { status: 401, message: 'Unauthorized', reason: 'Unauthorized' });
    const fault = behaviour.fault(seen);
    if (fault === 'hang') return;
    if (fault === 'drop') return void response.destroy();
    if (fault !== undefined) return refuse(response, fault);
    if (seen.query.get('watch') === '1') return watches.open(response, seen.path, seen.query);
    const [status, body] = handle(store, behaviour, seen);
    if (behaviour.after(seen) === 'drop') return void response.destroy();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => upgrade({ request, socket, head }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...cluster,
    server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviour,
    makeReady,
    async close() {
      await Promise.all([...pods.values()].map((pod) => pod.end()));
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The behaviour of a cluster without any faults. */
function usualBehaviour(makeReady: (claim: StoredObject) => void): Behaviour {
  const behaviour: Behaviour = {
    token: TOKEN,
    fault: () => undefined,
    after: () => undefined,
    readyAfterMs: 0,
    async claimed(claim) {
      await sleep(behaviour.readyAfterMs);
      makeReady(claim);
    },
    podSpec: goodPodSpec,
    newPod: startRealPod,
    protocol: 'v5.channel.k8s.io',
    version: { major: '1', minor: '33', gitVersion: 'v1.33.1' },
    denied: () => false,
  };
  return behaviour;
}

/** Makes and removes the sandboxes of the pool, as the pool's controller does. */
function createPool(store: FakeStore, pods: Map<string, FakePod>, behaviourOf: () => Behaviour) {
  let serial = 0;
  const makeReady = (claim: StoredObject): void => {
    serial += 1;
    const name = `pool-${serial}`;
    const pod = `${name}-pod`;
    pods.set(pod, behaviourOf().newPod());
    store.put(PATHS.pods, { metadata: { name: pod }, spec: behaviourOf().podSpec(), status: { phase: 'Running' } });
    store.put(PATHS.sandboxes, {
      metadata: { name, annotations: { 'agents.x-k8s.io/pod-name': pod } },
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'DependenciesNotReady' }] },
    });
    const known = store.change(PATHS.claims, claim.metadata.name, (object) => ({
      ...object,
      status: { sandbox: { name } },
    }));
    if (known === undefined) return void removeSandbox(name);
    store.change(PATHS.sandboxes, name, (object) => ({
      ...object,
      status: { conditions: [{ type: 'Ready', status: 'True', reason: 'DependenciesReady' }] },
    }));
  };
  const removeSandbox = (name: string): void => {
    store.remove(PATHS.sandboxes, name);
    const pod = pods.get(`${name}-pod`);
    pods.delete(`${name}-pod`);
    void pod?.end().then(() => store.remove(PATHS.pods, `${name}-pod`));
  };
  return { makeReady, removeSandbox };
}

/** Answers upgrade requests for exec streams. */
function upgradesOf(
  { requests, execs }: { readonly requests: SeenRequest[]; readonly execs: FakeExecStream[] },
  pods: ReadonlyMap<string, FakePod>,
  behaviour: Behaviour,
  isKnown: (request: IncomingMessage) => boolean,
) {
  return (asked: UpgradeRequest): void => {
    const { request, socket } = asked;
    const url = new URL(request.url ?? '', 'https://x');
    const seen = { method: 'GET', path: url.pathname, query: url.searchParams, body: undefined };
    requests.push(seen);
    const fault = isKnown(request) ? behaviour.fault(seen) : { status: 401 };
    const pod = pods.get(decodeURIComponent(url.pathname.split('/').at(-2) ?? ''));
    socket.on('error', () => {});
    if (fault === 'hang') return;
    if (fault !== undefined || pod === undefined) {
      const status = typeof fault === 'object' ? fault.status : 404;
      return void socket.end(`HTTP/1.1 ${status} x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
    }
    serveExec(asked, pod, behaviour.protocol, (stream) => execs.push(stream));
  };
}

function seedPool(store: FakeStore): void {
  store.put(PATHS.pools, {
    metadata: { name: 'pool' },
    spec: { replicas: 2, sandboxTemplateRef: { name: 'template' } },
    status: { replicas: 2, readyReplicas: 2 },
  });
  store.put(PATHS.templates, {
    metadata: { name: 'template' },
    spec: { podTemplate: { spec: goodPodSpec() }, networkPolicy: { egress: [] }, networkPolicyManagement: 'Managed' },
  });
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const url = new URL(request.url ?? '', 'https://x');
  let text = '';
  for await (const part of request) text += String(part);
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, body };
}

function refuse(response: ServerResponse, { status, message = '', reason = '' }: Exclude<Fault, string>): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ kind: 'Status', status: 'Failure', code: status, message, reason }));
}

/** Status and body for a request that is not a watch. */
function handle(store: FakeStore, behaviour: Behaviour, { method, path, query, body }: SeenRequest): [number, unknown] {
  const groups: Record<string, readonly string[]> = {
    [AGENTS]: ['sandboxes'],
    [EXTENSIONS]: ['sandboxclaims', 'sandboxwarmpools', 'sandboxtemplates'],
  };
  if (path === '/version') return [200, behaviour.version];
  if (path in groups) return [200, { kind: 'APIResourceList', resources: groups[path]?.map((name) => ({ name })) }];
  if (path.endsWith('/selfsubjectaccessreviews')) {
    const { spec } = body as { spec: { resourceAttributes: Record<string, string> } };
    return [201, { status: { allowed: !behaviour.denied(spec.resourceAttributes) } }];
  }
  if (Object.values<string>(PATHS).includes(path))
    return ofCollection(store, method, path, query, body as StoredObject);
  const collection = path.slice(0, path.lastIndexOf('/'));
  const name = path.slice(path.lastIndexOf('/') + 1);
  const known = store.get(collection, name);
  if (known === undefined)
    return [404, { status: 'Failure', code: 404, reason: 'NotFound', message: `${name} not found` }];
  if (method === 'DELETE') return [200, store.remove(collection, name)];
  if (method === 'PATCH') return [200, store.change(collection, name, (object) => merge(object, body) as StoredObject)];
  return [200, known];
}

function ofCollection(
  store: FakeStore,
  method: string,
  path: string,
  query: URLSearchParams,
  body: StoredObject,
): [number, unknown] {
  if (method === 'POST') {
    const isThere = store.get(path, body.metadata.name) !== undefined;
    if (isThere) return [409, { status: 'Failure', code: 409, reason: 'AlreadyExists', message: 'already exists' }];
    return [201, store.put(path, body)];
  }
  const [label, value] = (query.get('labelSelector') ?? '').split('=');
  const items = store.list(path).filter(({ metadata }) => !label || metadata.labels?.[label] === value);
  return [200, { kind: 'List', metadata: { resourceVersion: String(store.version()) }, items }];
}

/** Applies a JSON merge patch (RFC 7386). */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(typeof target === 'object' ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}
