import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { Asker } from './operation.ts';
import type { OperationParts } from './parts.ts';
import { recordChange } from './tools/registry-event.ts';
import { recordToolChanges } from './upstreams/record-tool-changes.ts';
import { type ListingParts, takeListing } from './upstreams/take-listing.ts';

/**
 * Updates registered tools when an upstream lists its tools anew: after a reconnection, and when it reports a change
 * (REG-09). Listings that come while one is being processed are merged into one. Logins that were ended by their redirect,
 * and prompts and templates that wait for an operator, are put on record.
 * @returns a function that stops this
 */
export function followUpstreams(parts: ListingParts & Pick<OperationParts, 'logins'>): () => void {
  const stopTools = followTools(parts);
  const stopLogins = parts.logins.onReceived((tenantId, upstream, holder) => {
    const data = { change: 'upstream-logged-in', upstream, tool_ids: [], holder };
    recordChange(parts, askerFor(tenantId), upstream, data).catch((cause: unknown) =>
      parts.log.error('upstream-login-not-recorded', { upstream, cause }),
    );
  });
  const stopOffers = parts.upstreams.onOffersHeld((tenantId, upstream, change, offers) => {
    recordToolChanges(parts, askerFor(tenantId), upstream, { [change]: offers }).catch((cause: unknown) =>
      parts.log.error('upstream-offers-not-recorded', { upstream, cause }),
    );
  });
  return () => {
    stopTools();
    stopLogins();
    stopOffers();
  };
}

function followTools(parts: ListingParts): () => void {
  /** For each upstream whose listing is being processed: true when another came meanwhile. */
  const atWork = new Map<string, boolean>();
  const take = async (tenantId: string, name: string, key: string): Promise<void> => {
    do {
      atWork.set(key, false);
      try {
        logRefused(parts, name, await takeListing(parts, askerFor(tenantId), name, false));
      } catch (thrown) {
        parts.log.error('upstream-tools-not-registered', { upstream: name, reason: failureOf(thrown).message });
      }
    } while (atWork.get(key) === true);
    atWork.delete(key);
  };
  return parts.upstreams.onToolsChanged((tenantId, name) => {
    const key = `${name} ${tenantId}`;
    if (atWork.has(key)) atWork.set(key, true);
    else void take(tenantId, name, key);
  });
}

function logRefused(
  { log }: ListingParts,
  upstream: string,
  registrations: Awaited<ReturnType<typeof takeListing>>,
): void {
  const refused = registrations.filter(({ outcome }) => outcome === 'refused').map(({ tool_id }) => tool_id);
  if (refused.length === 0) return;
  log.warn('upstream-tools-refused', {
    upstream,
    count: refused.length,
    tool_ids: refused.slice(0, REFUSED_NAMED_MAX),
  });
}

/** Tools that one line of the log names. */
const REFUSED_NAMED_MAX = 20;

/** The upstream itself caused the change. */
const askerFor = (tenantId: string): Asker => ({
  caller: { door: 'mcp' },
  principal: { tenantId, agentDid: 'did:sallyport:upstream', roles: [] },
});
