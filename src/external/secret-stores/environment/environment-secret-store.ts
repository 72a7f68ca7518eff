import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { SecretStore } from '../../secret-store.port.ts';

/** What every variable that holds a secret begins with. */
export const SECRET_VARIABLE_PREFIX = 'SALLYPORT_SECRET_';

/**
 * Secrets from environment variables: the secret `petstore_api_key` is `SALLYPORT_SECRET_PETSTORE_API_KEY`. All tenants
 * share them. The environment is read once, when the store is made; an empty variable counts as missing.
 * `read` throws E3302 with the names of the missing secrets and of the variables to set.
 */
export function createEnvironmentSecretStore(environment: Readonly<Record<string, string | undefined>>): SecretStore {
  const values = new Map<string, string>();
  for (const [variable, value] of Object.entries(environment)) {
    if (variable.startsWith(SECRET_VARIABLE_PREFIX) && value !== undefined && value !== '') values.set(variable, value);
  }
  return {
    async read(_tenantId, names) {
      const found = new Map<string, string>();
      const missing: string[] = [];
      for (const name of names) {
        const value = values.get(variableOf(name));
        if (value === undefined) missing.push(name);
        else found.set(name, value);
      }
      if (missing.length > 0) throw missingSecrets(missing);
      return found;
    },
  };
}

/** The variable of a secret: the name in capitals with underscores. */
export function variableOf(name: string): string {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return SECRET_VARIABLE_PREFIX + snake.toUpperCase();
}

function missingSecrets(missing: readonly string[]): ToolLayerError {
  const variables = missing.map(variableOf);
  return new ToolLayerError(
    'E3302',
    `Missing: ${missing.join(', ')}. Set ${variables.join(', ')} in the layer's environment and start it again.`,
    { details: { missing, variables } },
  );
}
