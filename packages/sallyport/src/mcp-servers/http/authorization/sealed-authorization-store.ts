import { isSealed, openText, sealText } from '@sallyport/std/text/sealed-text';
import type { Log } from '../../../telemetry/log.ts';
import type { AuthorizationPlace, AuthorizationStore } from '../../authorization-store.port.ts';

/**
 * Encrypts tokens, client secrets and keys in their rows (EXT-01). What this key cannot decrypt counts as empty: somebody
 * logs in again.
 */
export function sealedAuthorizationStore(store: AuthorizationStore, key: Uint8Array, log: Log): AuthorizationStore {
  const placeText = ({ tenantId, upstream, part }: AuthorizationPlace): string =>
    JSON.stringify([tenantId, upstream, part]);
  return {
    ...store,
    async read(place) {
      const kept = await store.read(place);
      if (kept === undefined) return undefined;
      const text = isSealed(kept.text) ? openText(key, kept.text, placeText(place)) : undefined;
      if (text === undefined) log.error('upstream-authorization-unreadable', { upstream: place.upstream });
      return { text: text ?? '', revision: kept.revision };
    },
    replace: (place, text, revision) => store.replace(place, sealText(key, text, placeText(place)), revision),
  };
}
