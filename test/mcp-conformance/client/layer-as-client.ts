/**
 * The layer as MCP client, for the public conformance suite. Only the part of the layer that talks to servers is opened
 * (`createUpstreams`, `createUpstreamLogins`, the guarded outbound HTTP), with its real parts: everything that the suite
 * sees on the wire comes from there. The stages of a call send nothing, and a whole layer takes seconds to open for each
 * scenario. The person is played here: opens links, sends forms back as they are shown, makes the same call again after a
 * login.
 */

import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { UpstreamAuthorization } from '../../../packages/sallyport/api/schemas/identity/upstream-authorization.ts';
import type { UpstreamDefinition } from '../../../packages/sallyport/api/schemas/upstream.ts';
import type { ClientAsker } from '../../../packages/sallyport/src/domain/questions/client-question.ts';
import { isServerMethod } from '../../../packages/sallyport/src/domain/tool/server-methods.ts';
import { createEgressGuard } from '../../../packages/sallyport/src/external/egress-guard.ts';
import { createOutboundHttp } from '../../../packages/sallyport/src/external/outbound-http.ts';
import type { SecretStore } from '../../../packages/sallyport/src/external/secret-store.port.ts';
import { createUpstreamLogins } from '../../../packages/sallyport/src/mcp-servers/upstream-logins.ts';
import { createUpstreams } from '../../../packages/sallyport/src/mcp-servers/upstreams.ts';
import type { ListedMcpTool } from '../../../packages/sallyport/src/registry/importer.port.ts';
import { memoryAuthorizationStore } from '../../../packages/sallyport/src/storage/memory/memory-authorization-store.ts';
import { silentLog } from '../../../packages/sallyport/src/telemetry/log.ts';

const TENANT = 'acme';
const NAME = 'conformance';
const REDIRECT_URL = 'http://127.0.0.1:8976/callback';
/** The document that the suite expects as client id. */
const CLIENT_ID_URL = 'https://conformance-test.local/client-metadata.json';
/** How often a person logs in for one call before giving up. */
const LOGINS_MAX = 5;
const CALL_MS = 20_000;

type Members = Readonly<Record<string, unknown>>;
interface ToolCall {
  readonly name: string;
  readonly arguments: Members;
}

/** What the suite gives to a client. */
export interface Scenario {
  readonly name: string;
  /** Address of the server that the suite started for it. */
  readonly url: string;
  /** Client ids, keys, calls to make. */
  readonly context: Members;
}

/** What an operator states for a scenario; secrets by the names of the members of its context. */
const STATED: Readonly<Record<string, (textOf: (member: string) => string) => UpstreamAuthorization>> = {
  'auth/pre-registration': (textOf) => ({ client_id: textOf('client_id'), client_secret: '{{client_secret}}' }),
  'auth/client-credentials-basic': (textOf) => ({
    grant: 'client_credentials',
    client_id: textOf('client_id'),
    client_secret: '{{client_secret}}',
  }),
  'auth/client-credentials-jwt': (textOf) => ({
    grant: 'client_credentials',
    client_id: textOf('client_id'),
    private_key: '{{private_key_pem}}',
  }),
  'auth/wif-jwt-bearer': (textOf) => ({
    grant: 'jwt_bearer',
    client_id: textOf('client_id'),
    assertion: '{{valid_jwt}}',
  }),
  'auth/enterprise-managed-authorization': (textOf) => ({
    grant: 'enterprise_managed',
    client_id: textOf('client_id'),
    client_secret: '{{client_secret}}',
    identity_provider: {
      issuer: textOf('idp_issuer'),
      client_id: textOf('idp_client_id'),
      id_token: '{{idp_id_token}}',
    },
  }),
};

/** Adds the server as an upstream, and makes the calls of the scenario. @throws the layer's error */
export async function playScenario({ name: scenario, url, context }: Scenario): Promise<void> {
  const textOf = (member: string): string => String(context[member]);
  const authorization = STATED[scenario]?.(textOf);
  const definition: UpstreamDefinition = {
    name: NAME,
    transport: { type: 'http', url, ...(authorization === undefined ? {} : { authorization }) },
  };
  const secrets: SecretStore = {
    read: async (_tenant, names) => new Map(names.map((name) => [name, textOf(name)])),
  };
  await using opened = new AsyncDisposableStack();
  const { upstreams, logins } = openClient(opened, secrets);
  /** Does something, and logs in as often as it takes. */
  const loggedIn = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    for (let times = 0; ; times += 1) {
      try {
        return await work();
      } catch (thrown) {
        if (!(thrown instanceof ToolLayerError) || thrown.code !== 'E3311' || times === LOGINS_MAX) throw thrown;
        const { link } = await logins.begin(TENANT, definition, undefined);
        const answer = await fetch(link, { redirect: 'manual' });
        await logins.finish(TENANT, definition, undefined, answer.headers.get('location') ?? '');
      }
    }
  };
  const { tools } = await loggedIn(() => upstreams.add(TENANT, definition));
  for (const call of callsOf(scenario, context, tools)) {
    const options = { invocationId: call.name, timeoutMs: CALL_MS };
    await loggedIn(() => upstreams.call(TENANT, NAME, call.name, call.arguments, options));
  }
}

function openClient(opened: AsyncDisposableStack, secrets: SecretStore) {
  const outbound = opened.use(createOutboundHttp({ guard: createEgressGuard() }));
  const logins = createUpstreamLogins({
    store: memoryAuthorizationStore({ clock: systemClock }),
    ...{ clock: systemClock, log: silentLog, secrets, outbound },
    clientName: 'sallyport',
    clientIdUrl: CLIENT_ID_URL,
    redirectUrl: REDIRECT_URL,
  });
  const upstreams = createUpstreams({
    driver: createBubblewrapDriver(),
    store: {
      put: async () => undefined,
      remove: async () => false,
      find: async () => undefined,
      loadAll: async () => [],
      print: async () => '',
    },
    ...{ clock: systemClock, log: silentLog, secrets, outbound, logins },
    clients: person,
    client: { name: 'sallyport', version: '0.1.0' },
  });
  opened.defer(() => upstreams.close());
  return { upstreams, logins };
}

/** A person who sends every form back as it is shown, with the values that are filled in already. */
const person: ClientAsker = {
  clientOf: () => ({ session: 'one', can: { elicitation: {} } }),
  completed() {},
  ask: async ({ asked }) =>
    asked.kind === 'elicitation' && asked.mode === 'form'
      ? { result: { action: 'accept', content: shownValues(asked.requestedSchema) } }
      : { unasked: 'this person fills in forms alone' },
};

function shownValues(schema: Members = {}): Members {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, { default?: unknown; type?: string }>>;
  const shown = Object.entries(properties).flatMap(([name, property]) => {
    if (property.default !== undefined) return [[name, property.default] as const];
    return property.type === 'boolean' ? [[name, true] as const] : [];
  });
  return Object.fromEntries(shown);
}

function callsOf(scenario: string, context: Members, tools: readonly ListedMcpTool[]): readonly ToolCall[] {
  const given = context['toolCalls'] as readonly ToolCall[] | undefined;
  if (given !== undefined) return given;
  if (scenario === 'json-schema-2020-12-preservation') {
    const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema;
    return [{ name: 'json_schema_echo', arguments: { schema } }];
  }
  // A server that only lists tools.
  if (scenario === 'json-schema-ref-no-deref') return [];
  // The layer's own tools for other requests of the server are not called.
  const own = tools.filter(({ name }) => !isServerMethod(name));
  const called = own.map(({ name }) => ({ name, arguments: { a: 2, b: 3 } }));
  // Its authorization server changes after the first request with a token.
  return scenario === 'auth/authorization-server-migration' ? [...called, ...called] : called;
}
