import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { JWK } from 'jose';
import type { UpstreamAuthorization } from '../../../../api/schemas/identity/upstream-authorization.ts';
import type { HttpTransport } from '../../../../api/schemas/upstream.ts';
import type { OutboundHttp } from '../../../external/outbound-http.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { AuthorizationStore } from '../../authorization-store.port.ts';
import { secretNames } from '../../connection/secrets/secret-values.ts';
import { type AuthorizationFetch, createAuthorizationFetch } from './authorization-fetch.ts';
import type { HolderState, TokenSource, UpstreamState } from './authorization-state.ts';
import { authenticationOf } from './client-authentication.ts';
import { registrationAt } from './client-registration.ts';
import { type AuthorizationServer, readAuthorizationServer } from './discovery/authorization-server.ts';
import { type ProtectedResource, readProtectedResource } from './discovery/protected-resource.ts';
import { type KeptValue, keptValue } from './kept-value.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/** Dependencies of all authorizations. */
export interface AuthorizationParts {
  readonly store: AuthorizationStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: SecretStore;
  readonly outbound: OutboundHttp;
  /** Throws for addresses that the operator of the machine does not allow this tenant's upstreams. */
  readonly checkAddress: (tenantId: string, upstream: string, url: URL) => void;
  /** How the layer names itself to authorization servers. */
  readonly clientName: string;
  /** Address of the layer's client document; undefined when it has none. */
  readonly clientIdUrl?: string | undefined;
  /** Where a login ends when its caller names no address. */
  readonly redirectUrl: string;
  /** Longest time for an answer of an authorization server, ms; 10 000 when absent. */
  readonly timeoutMs?: number | undefined;
}

/** Whose authorization at which upstream. */
export interface AuthorizationSubject {
  readonly tenantId: string;
  readonly name: string;
  readonly transport: HttpTransport;
  /** Undefined for the layer itself, whose connection all callers share. */
  readonly holder: string | undefined;
}

/** An upstream as a protected resource, and the authorization server that is used for it. */
export interface Discovered {
  readonly resource: ProtectedResource;
  readonly server: AuthorizationServer;
}

/** The part under which the authorization of a holder is kept. */
export const partOf = (holder: string | undefined): string => (holder === undefined ? 'layer' : `holder ${holder}`);

/** What the steps of one authorization share: its kept values, discovery and registration. */
export class AuthorizationContext {
  readonly parts: AuthorizationParts;
  readonly subject: AuthorizationSubject;
  readonly settings: UpstreamAuthorization;
  readonly url: URL;
  readonly send: AuthorizationFetch;
  readonly held: KeptValue<HolderState>;
  readonly #part: string;
  readonly #upstream: KeptValue<UpstreamState>;

  constructor(parts: AuthorizationParts, subject: AuthorizationSubject) {
    const { tenantId, name, transport, holder } = subject;
    this.parts = parts;
    this.subject = subject;
    this.settings = transport.authorization ?? {};
    this.url = new URL(transport.url);
    const { issuer } = this.settings;
    const { outbound, checkAddress, timeoutMs } = parts;
    const check = (url: URL): void => checkAddress(tenantId, name, url);
    this.send = createAuthorizationFetch({ upstream: this.url, issuer, outbound, check, timeoutMs });
    const place = { tenantId, upstream: name };
    const binding = bindingOf(transport);
    this.#part = partOf(holder);
    this.held = keptValue(parts.store, { ...place, part: this.#part }, binding);
    this.#upstream = keptValue(parts.store, { ...place, part: 'upstream' }, binding);
  }

  /** Deletes the holder's tokens. False when there was nothing. */
  remove(): Promise<boolean> {
    return this.parts.store.remove(this.subject.tenantId, this.subject.name, this.#part);
  }

  /** True when a person has to log in. */
  get isInteractive(): boolean {
    return (this.settings.grant ?? 'authorization_code') === 'authorization_code';
  }

  /** Keeps what a challenge says of the upstream, for logins that come without one. */
  async note(named: URL | undefined, asksDpop: boolean): Promise<void> {
    const held = await this.#upstream.read();
    const metadataUrl = named?.href;
    const { metadataUrl: before, asksDpop: asked, ...rest } = held.value;
    if (before === metadataUrl && (asked ?? false) === asksDpop) return;
    const next = { ...rest, asksDpop, ...(metadataUrl === undefined ? {} : { metadataUrl }) };
    await this.#upstream.replace(next, held);
  }

  /**
   * Finds the authorization server of the upstream.
   * @returns undefined when the upstream does not say that it has one
   * @throws E3307 for metadata that do not fit
   */
  async discover(): Promise<Discovered | undefined> {
    const { name } = this.subject;
    const { issuer: stated } = this.settings;
    const { client, metadataUrl } = (await this.#upstream.read()).value;
    const named = metadataUrl === undefined ? undefined : new URL(metadataUrl);
    const found = await readProtectedResource(name, this.url, named, this.send);
    // Before 2025-06-18 an upstream was its own authorization server.
    const resource = found ?? { resource: canonical(this.url), servers: [this.url.origin], asksDpop: false };
    if (stated !== undefined && found !== undefined && !resource.servers.includes(stated))
      throw notStated(name, stated);
    const bound = resource.servers.find((issuer) => issuer === client?.issuer);
    const issuer = stated ?? bound ?? (resource.servers[0] as string);
    const server = await readAuthorizationServer(name, issuer, this.send);
    if (server !== undefined) return { resource, server };
    if (found === undefined && stated === undefined) return undefined;
    throw new ToolLayerError('E3307', `The authorization server ${issuer} of the upstream '${name}' has no metadata.`, {
      details: { reached: false },
    });
  }

  /** Whether tokens are to be bound to a key. */
  async wantsDpop({ resource }: Discovered): Promise<boolean> {
    return this.settings.dpop ?? (resource.asksDpop || (await this.#upstream.read()).value.asksDpop === true);
  }

  /** The layer as client of the authorization server. @throws see `registrationAt` */
  async sourceAt({ resource, server }: Discovered, redirectUrl: string | undefined): Promise<TokenSource> {
    const held = await this.#upstream.read();
    const { clientIdUrl, clientName } = this.parts;
    const registration = await registrationAt({
      name: this.subject.name,
      server,
      authorization: this.settings,
      before: held.value.client,
      ...{ clientIdUrl, clientName, redirectUrl },
      send: this.send,
    });
    // When another instance registered in between, this registration serves this login alone.
    if (registration !== held.value.client) await this.#upstream.replace({ ...held.value, client: registration }, held);
    const { id, secret, method } = registration;
    const client = { id, method, ...(secret === undefined ? {} : { secret }) };
    return { server: server.metadata, client, resource: resource.resource };
  }

  /** The token endpoint with the layer's credentials. @throws E3302 for a missing secret */
  async endpointOf({ server, client }: TokenSource, dpopKey: JWK | undefined): Promise<TokenEndpoint> {
    const secretOf = (reference: string): Promise<string> => this.secretOf(reference, this.parts.secrets);
    return {
      name: this.subject.name,
      server,
      clientId: client.id,
      authentication: await authenticationOf(client, this.settings, server, secretOf),
      send: this.send,
      ...(dpopKey === undefined ? {} : { dpopKey }),
      now: () => this.parts.clock.now(),
    };
  }

  /** Value of a `{{NAME}}`. @throws E3302 when the store does not hold it */
  async secretOf(reference: string, secrets: SecretStore): Promise<string> {
    const [name = ''] = secretNames({ reference });
    const value = (await secrets.read(this.subject.tenantId, [name]))?.get(name);
    if (value !== undefined) return value;
    throw new ToolLayerError('E3302', `The secret store does not hold ${name}. Add it and try again.`, {
      details: { secrets: [name] },
    });
  }
}

/** What tokens belong to: they are not used for an upstream with another address, client or authorization server. */
function bindingOf({ url, authorization = {} }: HttpTransport): string {
  const { grant, issuer, client_id } = authorization;
  return sha256(JSON.stringify([url, grant, issuer, client_id]));
}

/** RFC 8707 §2: without a fragment; MCP: without a final slash where it has no meaning. */
function canonical(url: URL): string {
  const { origin, pathname, search } = url;
  return origin + (pathname === '/' ? '' : pathname) + search;
}

function notStated(name: string, issuer: string): ToolLayerError {
  return new ToolLayerError(
    'E3307',
    `The upstream '${name}' does not name the authorization server ${issuer}, which authorization.issuer states.`,
    { details: { reached: false } },
  );
}
