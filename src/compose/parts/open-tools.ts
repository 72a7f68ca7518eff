import { createCompositeExecutor } from '../../executors/composite.ts';
import { createFileExecutor } from '../../executors/file/file-executor.ts';
import type { FileSettings } from '../../executors/file/settings.ts';
import { createHttpExecutor } from '../../executors/http/http-executor.ts';
import { createMcpExecutor } from '../../executors/mcp/mcp-executor.ts';
import { createShellExecutor } from '../../executors/shell/shell-executor.ts';
import { createShellPolicy } from '../../executors/shell/shell-policy.ts';
import { createSkillExecutor } from '../../executors/skill/skill-executor.ts';
import type { SecretStore } from '../../external/secret-store.port.ts';
import { createEnvironmentSecretStore } from '../../external/secret-stores/environment/environment-secret-store.ts';
import { createTokenExchange, readExchangeProfiles } from '../../external/token-exchange.ts';
import { createQuarantine } from '../../mcp-servers/quarantine.ts';
import { createUpstreams } from '../../mcp-servers/upstreams.ts';
import { pathMarkFaults } from '../../permission/check-path-arguments.ts';
import { createRegistry } from '../../registry/registry.ts';
import { createBubblewrapDriver } from '../../sandbox/drivers/bubblewrap/bubblewrap-driver.ts';
import { createEgressGate } from '../../sandbox/egress-gate.ts';
import type { CommandPolicy } from '../../screens/check-command.ts';
import { createSchemaValidator } from '../../validation/schema-validator.ts';
import type { Settings } from '../settings.ts';
import { VERSION } from '../version.ts';
import type { Ingredients } from './ingredients.ts';
import type { Storage } from './open-storage.ts';

/** What finds tools and what runs them. */
export async function openTools(
  opened: AsyncDisposableStack,
  { settings, environment, clock, log, native }: Ingredients,
  { database }: Storage,
) {
  const schemas = createSchemaValidator({
    coercion: { dates: settings['validation.coerce_dates'], epochs: settings['validation.coerce_epochs'] },
  });
  const secrets = await openSecrets(settings, environment, clock);
  const driver = createBubblewrapDriver({}, createEgressGate());
  const client = { name: 'sallyport', version: VERSION };
  const quarantine = createQuarantine({ store: database.quarantineStore, clock, log });
  const upstreams = createUpstreams({ driver, store: database.upstreamStore, quarantine, secrets, log, clock, client });
  opened.defer(() => upstreams.close());
  const executors = createCompositeExecutor([
    native,
    createShellExecutor({ driver, policy: createShellPolicy(shellPolicyOf(settings)) }),
    opened.use(createHttpExecutor({ clock })),
    createFileExecutor({ clock, settings: fileSettingsOf(settings), closed: [settings.data_folder] }),
    createMcpExecutor(upstreams),
    createSkillExecutor(),
  ]);
  const registry = createRegistry({
    store: database.toolStore,
    clock,
    log,
    compileSchema: (schema) => schemas.inspect(schema),
    configFaults: (manifest) => [...executors.configFaults(manifest), ...pathMarkFaults(manifest)],
    retention: {
      versionsPerToolMax: settings['registry.max_versions_per_tool'],
      warningDays: settings['registry.deprecation_warning_days'],
      inUseDays: settings['registry.in_use_days'],
    },
  });
  return { schemas, secrets, driver, quarantine, upstreams, executors, registry };
}

/** Secrets of the environment, and those that are made from the caller's own token where a file says so. */
async function openSecrets(
  settings: Settings,
  environment: Ingredients['environment'],
  clock: Ingredients['clock'],
): Promise<SecretStore> {
  const secrets = createEnvironmentSecretStore(environment);
  const file = settings['oauth.exchange_file'];
  if (file === '') return secrets;
  return createTokenExchange({ profiles: await readExchangeProfiles(file), secrets, clock });
}

/** What the operator adds to the rules of the command screen. */
const shellPolicyOf = (settings: Settings): CommandPolicy => ({
  mode: settings['shell.mode'],
  blocked: settings['shell.blocked'],
  allowed: settings['shell.allowed'],
  asked: settings['shell.asked'],
});

const fileSettingsOf = (settings: Settings): FileSettings => ({
  denyRead: settings['file.deny_read'],
  allowRead: settings['file.allow_read'],
  denyWrite: settings['file.deny_write'],
  allowWrite: settings['file.allow_write'],
});
