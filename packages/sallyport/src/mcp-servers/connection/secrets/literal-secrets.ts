import { redact } from '@sallyport/guards';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';

const SENSITIVE_NAME = /key|token|secret|passw|auth|cred|cookie|session|private/i;
/** Scheme before the credential in a header. */
const SCHEME = /^(?:Bearer|Basic|Token) /i;

/** True when a value of this name is a literal secret, judging by name and form. */
export const isLiteralSecret = (name: string, value: string): boolean =>
  value !== '' && !value.includes('{{') && (SENSITIVE_NAME.test(name) || redact({ [name]: value }).findings.length > 0);

/** Names of variables and headers of a definition whose values are literal secrets. */
export function literalSecrets({ transport }: UpstreamDefinition): readonly string[] {
  if (transport.type === 'embedded') return [];
  const values = (transport.type === 'stdio' ? transport.env : transport.headers) ?? {};
  return Object.entries(values).flatMap(([name, value]) => (isLiteralSecret(name, value) ? [name] : []));
}

/** Name of the secret that replaces a value; qualified, since two upstreams may use one name for different values. */
export const secretNameOf = (upstream: string, name: string): string =>
  `${upstream}.${name.replace(/[^A-Za-z0-9_.-]/g, '_')}`;

/**
 * The definition with each literal secret replaced by a reference, `{{UPSTREAM.NAME}}`; the same object when there is
 * none.
 */
export function withReferences(definition: UpstreamDefinition): UpstreamDefinition {
  const { transport } = definition;
  const literal = new Set(literalSecrets(definition));
  if (transport.type === 'embedded' || literal.size === 0) return definition;
  const referring = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        literal.has(name) ? referenceFor(definition.name, name, value) : value,
      ]),
    );
  return transport.type === 'stdio'
    ? { ...definition, transport: { ...transport, env: referring(transport.env ?? {}) } }
    : { ...definition, transport: { ...transport, headers: referring(transport.headers ?? {}) } };
}

/** Replaces one value by a reference; the scheme of a header stays. */
export const referenceFor = (upstream: string, name: string, value = ''): string =>
  `${SCHEME.exec(value)?.[0] ?? ''}{{${secretNameOf(upstream, name)}}}`;

/**
 * Name of the argument at this place when it holds a secret: for `--token VALUE` the second argument, for
 * `--token=VALUE` and `--header "Authorization: …"` the whole argument.
 */
export function secretArgument(args: readonly string[], at: number): string | undefined {
  const arg = args[at] ?? '';
  const [, own, value] = /^([^=:\s]{1,100})[=:]\s*(.+)$/s.exec(arg) ?? [];
  if (own !== undefined && value !== undefined && !/^[a-z][a-z0-9+.-]*:\/\//i.test(arg))
    return isLiteralSecret(own, value) ? withoutDashes(own) : undefined;
  const flag = args[at - 1] ?? '';
  const name = /^--?[\w-]+$/.test(flag) ? withoutDashes(flag) : 'argument';
  return !arg.startsWith('-') && isLiteralSecret(name, arg) ? name : undefined;
}

const withoutDashes = (flag: string): string => flag.replace(/^-+/, '');
