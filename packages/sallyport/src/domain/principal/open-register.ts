import { type Failure, failure } from '@sallyport/std/error/failure';
import type { TokenHolder } from '../../../api/schemas/capability-token.ts';

/** Who has something open: the same for every credential of one agent and user of a tenant. */
export interface Holder {
  readonly tenantId: string;
  /** Tells holders of all tenants apart. */
  readonly name: string;
}

/** The holder for whom a credential speaks. */
export function holderIn({ tenant_id, agent_did, user_did = '' }: TokenHolder): Holder {
  return { tenantId: tenant_id, name: JSON.stringify([tenant_id, agent_did, user_did]) };
}

/** How many of one kind of thing may be open at once. */
export interface OpenBounds {
  readonly perHolderMax: number;
  readonly perTenantMax: number;
  /** Of all tenants together. */
  readonly max: number;
}

/** One open thing, from its opening until it is disposed. */
export interface OpenEntry extends Disposable {
  /** The thing was used: those of its holder that were not used since are older now. */
  touch(): void;
}

/** What is open, and whose it is: nobody's many things take the place of somebody else's. Every step takes the same time. */
export interface OpenRegister {
  readonly size: number;
  /**
   * Counts one thing more. Where a bound is reached, the oldest thing of the same holder is ended for it, never one of
   * another holder.
   * @param end ends the thing; absent for things that are not ended for newer ones
   * @returns E3803 where a bound is reached and the holder has nothing that can be ended
   */
  add(holder: Holder, end?: () => void): OpenEntry | Failure;
}

interface Entry {
  readonly holder: Holder;
  readonly end: (() => void) | undefined;
}

/** When somebody who finds no room may come again, in ms. */
const RETRY_MS = 2_000;

/** Nothing is open yet. @param what the things, as a refusal calls them */
export function createOpenRegister(what: string, bounds: OpenBounds): OpenRegister {
  /** By holder, the one that was used longest ago first. */
  const byHolder = new Map<string, Set<Entry>>();
  const perTenant = new Map<string, number>();
  let size = 0;

  const remove = (entry: Entry): void => {
    const { name, tenantId } = entry.holder;
    const own = byHolder.get(name);
    if (own?.delete(entry) !== true) return;
    if (own.size === 0) byHolder.delete(name);
    const left = (perTenant.get(tenantId) ?? 1) - 1;
    if (left === 0) perTenant.delete(tenantId);
    else perTenant.set(tenantId, left);
    size -= 1;
  };
  const boundReached = ({ name, tenantId }: Holder): string | undefined => {
    const { perHolderMax, perTenantMax, max } = bounds;
    if ((byHolder.get(name)?.size ?? 0) >= perHolderMax) return `You have ${perHolderMax} ${what} open already`;
    if ((perTenant.get(tenantId) ?? 0) >= perTenantMax) return `Your tenant has ${perTenantMax} ${what} open already`;
    return size >= max ? `${max} ${what} are open already` : undefined;
  };

  return {
    get size() {
      return size;
    },
    add: (holder, end) => {
      const reached = boundReached(holder);
      if (reached !== undefined) {
        const [oldest] = byHolder.get(holder.name) ?? [];
        if (oldest?.end === undefined)
          return failure('E3803', `${reached}. Close some, or come later.`, { retryAfterMs: RETRY_MS });
        remove(oldest);
        oldest.end();
      }
      const entry = { holder, end };
      const own = byHolder.get(holder.name) ?? new Set();
      byHolder.set(holder.name, own.add(entry));
      perTenant.set(holder.tenantId, (perTenant.get(holder.tenantId) ?? 0) + 1);
      size += 1;
      return {
        touch: () => {
          if (own.delete(entry)) own.add(entry);
        },
        [Symbol.dispose]: () => remove(entry),
      };
    },
  };
}
