import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { HttpAuth } from '../../../registry/http-operation.ts';
import { escapeAll } from './styles.ts';

/** Parts of a request that credentials are added to. */
export interface CredentialTarget {
  readonly headers: Record<string, string>;
  readonly query: string[];
  readonly cookies: string[];
}

/**
 * Adds the credentials of an operation.
 * @throws ToolLayerError E3302 for a secret that the call was not given or that cannot stand in a header
 */
export function addCredentials(
  auth: readonly HttpAuth[],
  secrets: ReadonlyMap<string, string>,
  to: CredentialTarget,
): void {
  for (const credential of auth) add(credential, secretOf(credential.secret, secrets), to);
}

function add(credential: HttpAuth, secret: string, { headers, query, cookies }: CredentialTarget): void {
  if (credential.type !== 'api_key') {
    const isBearer = credential.type === 'bearer';
    headers['authorization'] = isBearer ? `Bearer ${secret}` : `Basic ${Buffer.from(secret).toString('base64')}`;
  } else if (credential.in === 'header') headers[credential.name.toLowerCase()] = secret;
  else if (credential.in === 'query') query.push(`${escapeAll(credential.name)}=${escapeAll(secret)}`);
  else cookies.push(`${credential.name}=${escapeAll(secret)}`);
}

function secretOf(name: string, secrets: ReadonlyMap<string, string>): string {
  const value = secrets.get(name);
  if (value === undefined) {
    throw new ToolLayerError('E3302', `The call has no secret ${name}, which the tool needs.`, {
      details: { missing: [name] },
    });
  }
  if (isHeaderValue(value)) return value;
  throw new ToolLayerError(
    'E3302',
    `The secret ${name} holds characters that no header can carry, such as a line end.`,
  );
}

/** RFC 9110 §5.5: visible characters, space and tab. Anything else could begin another header. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
