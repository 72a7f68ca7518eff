import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { type CallOwner, ownerKey } from '../../../domain/invocation/call-owner.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { holderOf } from '../../http/authorization/holder.ts';
import type { UpstreamCaller } from '../../known-upstream.ts';
import { secretNames } from '../secrets/secret-values.ts';

/** A caller who may have a connection of its own. */
export interface KnownCaller {
  /** Agent and user, independent of their credentials. */
  readonly identity: string;
  /** Absent where connections differ by client alone. */
  readonly owner?: CallOwner;
  /** Whose authorization at the upstream is used; absent: that of the layer. */
  readonly holder?: string;
  /** Identity and credential values combined; identifies a connection. No value can be read from it. */
  readonly key: string;
  /** Credential values of the connection, by name. */
  readonly values: ReadonlyMap<string, string>;
}

/**
 * Names of the credentials that a call to an upstream must be granted, in the order of the definition; empty when the
 * connection is the tenant's.
 */
export function callerCredentials(definition: UpstreamDefinition): readonly string[] {
  return definition.per_caller === true ? placeholdersOf(definition) : [];
}

/** @throws E3801 for a definition with unusable `list_credentials` */
export function checkListCredentials(definition: UpstreamDefinition): void {
  const { name, list_credentials: listing, per_caller: perCaller } = definition;
  if (listing === undefined) return;
  if (perCaller !== true) {
    throw new ToolLayerError('E3801', `The upstream '${name}' says list_credentials without per_caller: true.`);
  }
  const known = new Set(placeholdersOf(definition));
  const stray = Object.keys(listing).filter((credential) => !known.has(credential));
  if (stray.length === 0) return;
  const where = definition.transport.type !== 'stdio' ? 'headers' : 'env';
  const message = `No {{NAME}} in ${where} of the upstream '${name}' is called ${stray.join(', ')}. Take it out of list_credentials.`;
  throw new ToolLayerError('E3801', message);
}

/** A tenant's secrets, some of which replace others: the ones that only a caller could bring. */
export function standIns(store: SecretStore, by: Readonly<Record<string, string>>): SecretStore {
  const nameOf = (name: string): string => (Object.hasOwn(by, name) ? (by[name] as string) : name);
  return {
    async read(tenantId, names) {
      const found = await store.read(tenantId, names.map(nameOf));
      const held = names.filter((name) => found.has(nameOf(name)));
      return new Map(held.map((name) => [name, found.get(nameOf(name)) as string]));
    },
  };
}

/** A secret store with the credentials of one caller and nothing else. */
export function secretsOf({ values }: KnownCaller): SecretStore {
  return { read: async () => values };
}

/**
 * The caller as connections distinguish callers: the same agent for another user, or in another tenant, is another
 * caller.
 * @throws E3302 naming the credentials that the call was not granted
 */
export function callerOf(upstream: string, names: readonly string[], caller: UpstreamCaller | undefined): KnownCaller {
  const missing = names.filter((name) => caller?.secrets.has(name) !== true);
  if (caller === undefined || missing.length > 0) throw notGranted(upstream, missing);
  const values = new Map(names.map((name) => [name, caller.secrets.get(name) as string]));
  const identity = ownerKey(caller.principal);
  const key = sha256(JSON.stringify([identity, ...values.values()]));
  return { identity, owner: caller.principal, holder: holderOf(caller.principal), key, values };
}

function placeholdersOf({ transport }: UpstreamDefinition): readonly string[] {
  if (transport.type === 'embedded') return [];
  if (transport.type === 'stdio') return secretNames(transport.env ?? {});
  const { assertion = '', identity_provider } = transport.authorization ?? {};
  return secretNames({ ...transport.headers, ' assertion': assertion, ' id_token': identity_provider?.id_token ?? '' });
}

function notGranted(upstream: string, missing: readonly string[]): ToolLayerError {
  const what = missing.length === 0 ? 'and nobody is named' : `and this call was not granted ${missing.join(', ')}`;
  return new ToolLayerError(
    'E3302',
    `The upstream '${upstream}' is called over a connection of the caller's own, ${what}. ` +
      'The tool has to ask for its credentials in permissions.credentials; add the upstream again to have that written.',
    { details: { reached: false, missing } },
  );
}
