import type { Clock } from '@sallyport/std/clock';
import type {
  AuthorizationPlace,
  AuthorizationStore,
  KeptAuthorization,
} from '../../mcp-servers/authorization-store.port.ts';

interface Entry extends KeptAuthorization {
  /** On the monotonic clock; until then the version is claimed. */
  readonly claimedUntil: number;
}

/** Authorizations of this process alone, which end with it. */
export function memoryAuthorizationStore({ clock }: { readonly clock: Clock }): AuthorizationStore {
  const entries = new Map<string, Entry>();
  let last = 0;
  const keyOf = ({ tenantId, upstream, part }: AuthorizationPlace): string =>
    JSON.stringify([tenantId, upstream, part]);
  return {
    async read(place) {
      const entry = entries.get(keyOf(place));
      return entry === undefined ? undefined : { text: entry.text, revision: entry.revision };
    },
    revisions: async (places) => places.map((place) => entries.get(keyOf(place))?.revision),
    async replace(place, text, revision) {
      const key = keyOf(place);
      if ((entries.get(key)?.revision ?? 0) !== revision) return undefined;
      last += 1;
      entries.set(key, { text, revision: last, claimedUntil: 0 });
      return last;
    },
    async claim(place, revision, ms) {
      const key = keyOf(place);
      const entry = entries.get(key);
      const now = clock.monotonic();
      if (entry?.revision !== revision || entry.claimedUntil > now) return false;
      entries.set(key, { ...entry, claimedUntil: now + ms });
      return true;
    },
    async remove(tenantId, upstream, part) {
      const all = [...entries.keys()].filter((key) => {
        const [ofTenant, ofUpstream, ofPart] = JSON.parse(key) as readonly string[];
        return ofTenant === tenantId && ofUpstream === upstream && (part === undefined || part === ofPart);
      });
      for (const key of all) entries.delete(key);
      return all.length > 0;
    },
  };
}
