import { join, resolve } from 'node:path';
import type { IsolationLevel } from '@sallyport/sandbox';
import { createWasmDriver } from '@sallyport/sandbox/wasm';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ExecutorKind } from '../../../api/schemas/tool-manifest.ts';
import { createCallFolders } from '../../bridges/call-folders.ts';
import { circuitFaults } from '../../domain/circuit/circuit-config.ts';
import type { ClientAsker } from '../../domain/questions/client-question.ts';
import { valuesOf } from '../../domain/settings/setting.ts';
import { sessionFaults } from '../../domain/tool/session-faults.ts';
import { createComposioExecutor } from '../../executors/composio/composio-executor.ts';
import { type CompositeExecutor, createCompositeExecutor } from '../../executors/composite.ts';
import type { Executor } from '../../executors/executor.port.ts';
import { createFileExecutor } from '../../executors/file/file-executor.ts';
import { FILE_SETTINGS } from '../../executors/file/settings.ts';
import { createHttpExecutor } from '../../executors/http/http-executor.ts';
import { createMcpExecutor } from '../../executors/mcp/mcp-executor.ts';
import { withModules } from '../../executors/native/module-executor.ts';
import { createSkillExecutor } from '../../executors/skill/skill-executor.ts';
import { createSkillFolders } from '../../executors/skill/skill-folders.ts';
import { WEB_SETTINGS } from '../../executors/web/settings.ts';
import { createWebExecutor } from '../../executors/web/web-executor.ts';
import { createEgressGuard } from '../../external/egress-guard.ts';
import { createOutboundHttp } from '../../external/outbound-http.ts';
import type { SecretStore } from '../../external/secret-store.port.ts';
import { createEnvironmentSecretStore } from '../../external/secret-stores/environment/environment-secret-store.ts';
import { createTokenExchange, readExchangeProfiles } from '../../external/token-exchange.ts';
import { sealedUpstreamStore } from '../../mcp-servers/connection/secrets/sealed-upstream-store.ts';
import { sealedAuthorizationStore } from '../../mcp-servers/http/authorization/sealed-authorization-store.ts';
import { LOGIN_SETTINGS } from '../../mcp-servers/http/authorization/settings.ts';
import { createPackages } from '../../mcp-servers/packages.ts';
import { createQuarantine } from '../../mcp-servers/quarantine.ts';
import {
  createRedirectReceiver,
  createUpstreamLogins,
  type UpstreamLogins,
  type UpstreamLoginsParts,
} from '../../mcp-servers/upstream-logins.ts';
import type { UpstreamStore } from '../../mcp-servers/upstream-store.port.ts';
import { createUpstreams, type Upstreams, type UpstreamsParts } from '../../mcp-servers/upstreams.ts';
import { pathMarkFaults } from '../../permission/check-path-arguments.ts';
import { createRegistry, type Registry } from '../../registry/registry.ts';
import type { SkillPackage } from '../../registry/skill-package.ts';
import { RETENTION_SETTINGS } from '../../registry/versions/lifecycle/retention.ts';
import { memoryAuthorizationStore } from '../../storage/memory/memory-authorization-store.ts';
import { COERCION_SETTINGS } from '../../validation/coerce/coercion-rules.ts';
import { createSchemaValidator, type SchemaValidator } from '../../validation/schema-validator.ts';
import { embedderOf } from '../open-search.ts';
import type { Settings } from '../settings.ts';
import { VERSION } from '../version.ts';
import { contextBridgeOf } from './from-settings/context-bridge.ts';
import { type MachineBounds, machineBounds } from './from-settings/machine-bounds.ts';
import { objectStoreOf } from './from-settings/object-store.ts';
import { receivesRedirects } from './from-settings/resource.ts';
import type { Ingredients } from './ingredients.ts';
import { openShell } from './open-shell.ts';
import type { Storage } from './open-storage.ts';
import { openReferenceServers } from './reference-servers/open-reference-servers.ts';
import { openSandboxes } from './sandboxes/open-sandboxes.ts';

/** Opens the registry and the executors. Questions of upstreams go to `clients`. */
export async function openTools(
  opened: AsyncDisposableStack,
  { settings, closed, environment, clock, log, native }: Ingredients,
  foundation: { readonly storage: Storage; readonly instanceId: string },
  clients: ClientAsker,
) {
  const { storage } = foundation;
  const { database } = storage;
  const schemas = createSchemaValidator({ coercion: valuesOf(COERCION_SETTINGS, settings) });
  const secrets = await openSecrets(settings, environment, clock);
  const { driver, servers, drivers } = openSandboxes(opened, settings, closed);
  const bounds = machineBounds(settings);
  const interpreter = opened.use(createWasmDriver());
  // One egress guard for all HTTP requests of the layer itself (EXT-03).
  const guard = createEgressGuard();
  const outbound = opened.use(createOutboundHttp({ guard }));
  const embedder = embedderOf(settings, secrets);
  const from = { settings, clock, log, closed };
  const context = contextBridgeOf(from, foundation, () => upstreams);
  const needs = { embedder, driver, onContextChanged: context.forget };
  const { servers: embedded, documentUpdates } = await openReferenceServers(opened, from, storage, needs);
  const quarantine = createQuarantine({ store: database.quarantineStore, clock, log });
  const { store, keepsSecrets } = upstreamStoreOf(storage, log);
  const logins = loginsOf(opened, storage, settings, bounds, { clock, log, secrets, outbound, clients });
  const upstreams = openUpstreams(opened, {
    driver: servers,
    ...{ checkDefinition: bounds.checkUpstream, checkShown: bounds.checkShown },
    ...{ store, quarantine },
    packages: packagesOf(settings, servers, environment),
    ...{ secrets, log, clock, logins },
    client: { name: 'sallyport', version: VERSION },
    outbound,
    clients,
    embedded,
    // Callers with connections of their own share no socket either (PRM-11).
    callerOutbound: () => createOutboundHttp({ guard }),
  });
  // What waits is reported before the upstreams are closed.
  opened.use(context);
  const folders = createCallFolders(resolve(settings['data_folder'], 'documents'), clock);
  const { shell, shellPolicy } = await openShell(opened, { settings, log, closed }, { driver, folders });
  const skillFiles = createSkillFolders(join(settings['data_folder'], 'skills'), {
    ...{ contents: database.skillContents, clock },
    namedBy: (tenantId) => skillHashes(registry, tenantId),
  });
  const fileExecutor = createFileExecutor({ clock, settings: valuesOf(FILE_SETTINGS, settings), closed });
  const ofKind = {
    native: withModules(native, {
      interpreter,
      processes: driver,
      checkSource: interpreter.checkSource,
      ...modulesOf(settings),
    }),
    shell,
    http: createHttpExecutor({ clock, outbound }),
    file: fileExecutor,
    web: opened.use(createWebExecutor({ clock, outbound, settings: valuesOf(WEB_SETTINGS, settings) })),
    mcp: createMcpExecutor(upstreams),
    skill: createSkillExecutor({ driver, files: skillFiles, screen: () => shellPolicy.screen(), folders }),
    composio: createComposioExecutor({ outbound, clock }),
  };
  const executors = createCompositeExecutor(inOrder(ofKind, settings), bounds.refusal);
  const registry = registryOf(settings, { clock, log, store: database.toolStore, schemas, executors, bounds });
  const known = { schemas, executors, registry, skillFiles, fileExecutor };
  const ofServers = { quarantine, upstreams, embedded, documentUpdates, logins, context };
  const stores = { secrets, objects: objectStoreOf(settings, secrets), keepsSecrets };
  return { clients, embedder, ...stores, driver, drivers, outbound, ...known, ...ofServers };
}

/** @throws ToolLayerError E3801 when a kind is named twice */
function inOrder(ofKind: Readonly<Record<ExecutorKind, Executor>>, settings: Settings): readonly Executor[] {
  const order = settings['executors.order'];
  const twice = order.find((kind, at) => order.indexOf(kind) !== at);
  if (twice !== undefined) throw new ToolLayerError('E3801', `executors.order names ${twice} twice. Name it once.`);
  return order.map((kind) => ofKind[kind]);
}

/** The store of upstream definitions, with secrets encrypted when there is a key for it. */
function upstreamStoreOf(
  { database, sealingKey }: Storage,
  log: Ingredients['log'],
): { readonly store: UpstreamStore; readonly keepsSecrets: boolean } {
  const store = database.upstreamStore;
  return sealingKey === undefined
    ? { store, keepsSecrets: false }
    : { store: sealedUpstreamStore(store, sealingKey, log), keepsSecrets: true };
}

/** Logins at upstreams; tokens are encrypted in the database where there is a key for it, else in memory. */
function loginsOf(
  opened: AsyncDisposableStack,
  { database, sealingKey }: Storage,
  settings: Settings,
  { checkUpstream }: MachineBounds,
  parts: Pick<UpstreamLoginsParts, 'clock' | 'log' | 'secrets' | 'outbound' | 'clients'>,
): UpstreamLogins {
  const { redirectUrl, clientIdUrl } = valuesOf(LOGIN_SETTINGS, settings);
  return createUpstreamLogins({
    ...parts,
    store:
      sealingKey === undefined
        ? memoryAuthorizationStore(parts)
        : sealedAuthorizationStore(database.authorizationStore, sealingKey, parts.log),
    checkAddress: (tenantId, name, { href: url }) =>
      checkUpstream(tenantId, { name, transport: { type: 'http', url } }),
    clientName: 'Sallyport',
    redirectUrl,
    ...(receivesRedirects(settings) ? { receiver: opened.use(createRedirectReceiver(redirectUrl)) } : {}),
    ...(clientIdUrl === '' ? {} : { clientIdUrl }),
  });
}

/** Folder for packages of upstreams, in the data folder. */
const packagesOf = (
  settings: Settings,
  driver: Parameters<typeof createPackages>[0]['driver'],
  environment: Ingredients['environment'],
) => createPackages({ driver, folder: resolve(settings['data_folder'], 'packages'), environment });

function openUpstreams(opened: AsyncDisposableStack, parts: UpstreamsParts): Upstreams {
  return opened.adopt(createUpstreams(parts), (upstreams) => upstreams.close());
}

/** The operator's folder of modules, if there is one. */
/** The interpreter is enough for modules until the operator wants more than the namespaces that programs get anyway. */
function modulesOf(settings: Settings): { readonly folder?: string; readonly atLeast: IsolationLevel } {
  const wanted = settings['sandbox.isolation'];
  const folder = settings['functions.folder'];
  return {
    atLeast: wanted === 'namespaces' ? 'interpreter' : wanted,
    ...(folder === '' ? {} : { folder: resolve(folder) }),
  };
}

interface RegistryIngredients extends Pick<Ingredients, 'clock' | 'log'> {
  readonly store: Storage['database']['toolStore'];
  readonly schemas: SchemaValidator;
  readonly executors: CompositeExecutor;
  readonly bounds: MachineBounds;
}

function registryOf(settings: Settings, { clock, log, store, schemas, executors, bounds }: RegistryIngredients) {
  return createRegistry({
    store,
    clock,
    log,
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: (manifest, tenantId) => [
      ...bounds.faults(manifest, tenantId),
      ...executors.configFaults(manifest),
      ...pathMarkFaults(manifest),
      ...circuitFaults(manifest),
      ...sessionFaults(manifest),
    ],
    timeoutSecondsMax: settings['calls.timeout_seconds_max'],
    retention: valuesOf(RETENTION_SETTINGS, settings),
  });
}

/** Secrets of the environment, and those derived from the caller's own token when a file configures them. */
async function openSecrets(
  settings: Settings,
  environment: Ingredients['environment'],
  clock: Ingredients['clock'],
): Promise<SecretStore> {
  const secrets = createEnvironmentSecretStore(environment, {
    defaultTenant: settings['tenant.default'],
    shared: settings['secrets.shared'],
  });
  const file = settings['oauth.exchange_file'];
  if (file === '') return secrets;
  return createTokenExchange({ profiles: await readExchangeProfiles(file), secrets, clock });
}

/** Content hashes of a tenant's skills, in all existing versions. */
async function skillHashes(registry: Registry, tenantId: string): Promise<ReadonlySet<string>> {
  await registry.refresh();
  const versions = registry
    .manifests(tenantId)
    .flatMap(({ manifest }) => registry.versions(tenantId, manifest.tool_id))
    .filter(({ manifest }) => manifest.executor.kind === 'skill');
  const files = versions.flatMap(({ manifest }) => (manifest.executor.config as SkillPackage | undefined)?.files ?? []);
  return new Set(files.map(({ sha256 }) => sha256));
}
