import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { HttpAuth } from '../../../registry/http-operation.ts';
import { escapeAll } from './styles.ts';

/** Parts of a request that credentials are added to. */
export interface CredentialTarget {
  readonly headers: Record<string, string>;
  readonly query: string[];
  readonly cookies: string[];
}

/** Credentials of one call. */
export interface Credentials {
  /** Values of secrets by name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The access tokens, by the credential that needs them. */
  readonly tokens: ReadonlyMap<HttpAuth, string>;
}

/**
 * Adds the credentials of an operation.
 * @throws ToolLayerError E3302 for a secret that the call was not granted or that is not valid in a header
 */
export function addCredentials(
  auth: readonly HttpAuth[],
  { secrets, tokens }: Credentials,
  to: CredentialTarget,
): void {
  for (const credential of auth) {
    const token = tokens.get(credential);
    if (token === undefined) add(credential, secretOf(credential.secret, secrets), to);
    else to.headers['authorization'] = `Bearer ${token}`;
  }
}

/** A credential takes the place of what an argument sent under its name: of two, some services take the first. */
function add(credential: HttpAuth, secret: string, { headers, query, cookies }: CredentialTarget): void {
  if (credential.type === 'bearer') headers['authorization'] = `Bearer ${secret}`;
  else if (credential.type !== 'api_key') {
    headers['authorization'] = `Basic ${Buffer.from(secret).toString('base64')}`;
  } else if (credential.in === 'header') headers[credential.name.toLowerCase()] = secret;
  else if (credential.in === 'query') putOnly(query, escapeAll(credential.name), secret);
  else putOnly(cookies, credential.name, secret);
}

function putOnly(pairs: string[], name: string, secret: string): void {
  const others = pairs.filter((pair) => !pair.startsWith(`${name}=`));
  pairs.splice(0, Infinity, ...others, `${name}=${escapeAll(secret)}`);
}

/** @throws ToolLayerError E3302 as `addCredentials` */
export function secretOf(name: string, secrets: ReadonlyMap<string, string>): string {
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

/** RFC 9110 §5.5: visible characters, space and tab. Others could start another header. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
