import { createRedactor } from '@sallyport/guards';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type HideSecrets, hideSecrets } from '../../../external/hide-secrets.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';

const PLACEHOLDER = /\{\{\s*([A-Za-z0-9][A-Za-z0-9_.-]{0,254})\s*\}\}/g;
/**
 * Shorter values are not hidden: hiding them would blot out ordinary text, and guessing them is easier than reading
 * them.
 */
const HIDDEN_CHARS_MIN = 6;
/** Names whose values are hidden even when the definition itself contains them, as in desktop configurations. */
const SENSITIVE_NAME = /key|token|secret|passw|auth|cred|cookie|session|private/i;

/** Values with their secrets filled in, and functions that remove these from texts. */
export interface FilledValues {
  readonly values: Readonly<Record<string, string>>;
  /** Removes all filled-in values from a text of the layer's own. */
  hide(text: string): string;
  /**
   * Removes from the server's texts the values of the secret store, and values of the definition that are secrets by
   * their form or name. An ordinary word in a definition stays: a server may say `postgres` without meaning somebody's
   * password. Undefined when there is nothing to hide.
   */
  readonly hideInAnswers: HideSecrets | undefined;
}

/** Recognises secrets among the values in a definition. */
const redactor = createRedactor({
  kinds: ['field', 'private_key', 'token', 'api_key', 'password', 'connection_string'],
});

/**
 * Replaces `{{NAME}}` by secrets.
 * @throws E3302 naming the secrets that are missing; E3301 when the store cannot be reached
 */
export async function fillSecrets(
  tenantId: string,
  templates: Readonly<Record<string, string>>,
  store: SecretStore,
): Promise<FilledValues> {
  const names = secretNames(templates);
  const secrets = names.length === 0 ? new Map<string, string>() : await readSecrets(tenantId, names, store);
  const values = Object.fromEntries(
    Object.entries(templates).map(([key, template]) => [
      key,
      template.replace(PLACEHOLDER, (_, name: string) => secrets.get(name) ?? ''),
    ]),
  );
  const sensitive = Object.entries(values).filter(
    ([key, value]) => SENSITIVE_NAME.test(key) || value !== templates[key],
  );
  const certain = Object.entries(values).filter(([key, value]) => value !== templates[key] || isSecret(key, value));
  const all = new Map([...certain, ...[...secrets].map(([name, value]) => [`{{${name}}}`, value] as const)]);
  return {
    values,
    hide: hiding([...secrets.values(), ...sensitive.map(([, value]) => value)]),
    hideInAnswers: all.size === 0 ? undefined : hideSecrets(all),
  };
}

const isSecret = (key: string, value: string): boolean =>
  !/^(?:\p{L}+|\d+)$/u.test(value) && redactor.value({ [key]: value }).findings.length > 0;

/** Names in `{{NAME}}`, each once. */
export function secretNames(templates: Readonly<Record<string, string>>): readonly string[] {
  const found = Object.values(templates).flatMap((template) => [...template.matchAll(PLACEHOLDER)]);
  return [...new Set(found.map(([, name]) => name as string))];
}

/** A function that removes all these values from a text, longest first; very short values are kept. */
export function hiding(values: readonly string[]): (text: string) => string {
  const hidden = values.filter((value) => value.length >= HIDDEN_CHARS_MIN).sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((shown, value) => shown.replaceAll(value, '[hidden]'), text);
}

async function readSecrets(
  tenantId: string,
  names: readonly string[],
  store: SecretStore,
): Promise<ReadonlyMap<string, string>> {
  const secrets = await store.read(tenantId, names);
  const missing = names.filter((name) => !secrets.has(name));
  if (missing.length > 0) {
    throw new ToolLayerError('E3302', `The secret store does not hold ${missing.join(', ')}. Add it and try again.`, {
      details: { secrets: missing },
    });
  }
  return secrets;
}
