import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SecretStore } from '../../secret-store.port.ts';

/** Prefix of every variable with a secret. */
export const SECRET_VARIABLE_PREFIX = 'SALLYPORT_SECRET_';

/** Owners of the secrets in the environment. */
export interface EnvironmentSecretOptions {
  /** Tenant of variables that name none. */
  readonly defaultTenant: string;
  /** Names of the default tenant's secrets that every tenant may use; `*` for all of them. */
  readonly shared: readonly string[];
}

/**
 * Secrets from environment variables. `SALLYPORT_SECRET_PETSTORE_API_KEY` is the secret `petstore_api_key` of the default
 * tenant, `SALLYPORT_SECRET__acme__PETSTORE_API_KEY` that of the tenant `acme`, which no other tenant can name; its own
 * goes before what is shared. The environment is read once, when the store is made; an empty variable counts as missing.
 * `read` throws E3302 with the names of the missing secrets and of the variables to set.
 */
export function createEnvironmentSecretStore(
  environment: Readonly<Record<string, string | undefined>>,
  { defaultTenant, shared }: EnvironmentSecretOptions,
): SecretStore {
  const values = new Map<string, string>();
  for (const [variable, value] of Object.entries(environment)) {
    if (variable.startsWith(SECRET_VARIABLE_PREFIX) && value !== undefined && value !== '') values.set(variable, value);
  }
  const open: ReadonlySet<string> = new Set(shared.map((name) => variableOf(name)));
  const mayUse = (tenantId: string, variable: string): boolean =>
    tenantId === defaultTenant || shared.includes('*') || open.has(variable);
  return {
    async read(tenantId, names) {
      const found = new Map<string, string>();
      const missing: string[] = [];
      for (const name of names) {
        const own = variableOf(name, tenantId);
        const common = variableOf(name);
        const value =
          (own === undefined ? undefined : values.get(own)) ??
          (mayUse(tenantId, common) ? values.get(common) : undefined);
        if (value === undefined) missing.push(name);
        else found.set(name, value);
      }
      if (missing.length > 0) throw missingSecrets(missing, tenantId === defaultTenant ? undefined : tenantId);
      return found;
    },
  };
}

/**
 * The variable of a secret: the name in capitals with underscores. Of a tenant's own, the tenant stands before it exactly
 * as it is written, with `_X2D_` in the place of a character such as `-` that no shell takes in the name of a variable;
 * undefined for a tenant whose name holds such a thing itself, because two tenants could share a variable then.
 */
export function variableOf(name: string): string;
export function variableOf(name: string, tenantId: string | undefined): string | undefined;
export function variableOf(name: string, tenantId?: string): string | undefined {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase();
  if (tenantId === undefined) return SECRET_VARIABLE_PREFIX + snake;
  if (/_X[0-9A-F]/.test(tenantId)) return undefined;
  const tenant = tenantId.replaceAll(
    /[^A-Za-z0-9_]/gu,
    (character) => `_X${character.codePointAt(0)?.toString(16).toUpperCase()}_`,
  );
  return `${SECRET_VARIABLE_PREFIX}_${tenant}__${snake}`;
}

function missingSecrets(missing: readonly string[], tenantId: string | undefined): ToolLayerError {
  const variables = missing.map((name) => variableOf(name, tenantId)).filter((variable) => variable !== undefined);
  const mend =
    variables.length === 0
      ? 'The environment cannot hold secrets of a tenant of this name. Share those of the default tenant, or use another store.'
      : `Set ${variables.join(', ')} in the layer's environment and start it again.`;
  return new ToolLayerError('E3302', `Missing: ${missing.join(', ')}. ${mend}`, { details: { missing, variables } });
}
