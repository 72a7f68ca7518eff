import { type Failure, failure } from '@sallyport/std/error/failure';
import type { TokenHolder } from '../../../api/schemas/capability-token.ts';

/** The holder of open things: the same for every credential of one agent and user of a tenant. */
export interface Holder {
  readonly tenantId: string;
  /** Unique among the holders of all tenants. */
  readonly name: string;
}

/** The holder of a credential. */
export function holderIn({ tenant_id, agent_did, user_did = '' }: TokenHolder): Holder {
  return { tenantId: tenant_id, name: JSON.stringify([tenant_id, agent_did, user_did]) };
}

/** Limits on open things of one kind. */
export interface OpenBounds {
  readonly perHolderMax: number;
  readonly perTenantMax: number;
  /** For all tenants together. */
  readonly max: number;
}

/** One open thing, until it is disposed. */
export interface OpenEntry extends Disposable {
  /** Marks the thing as used: it becomes the most recently used one of its holder. */
  touch(): void;
}

/**
 * Counts open things by holder, so that one holder's many things never displace another's. Every step takes constant
 * time.
 */
export interface OpenRegister {
  readonly size: number;
  /**
   * Adds a thing. At a limit, the oldest thing of the same holder is ended for it, never one of another holder.
   * @param end ends the thing; absent for things that are not ended for newer ones
   * @returns E3803 when a limit is reached and the holder has nothing that can be ended
   */
  add(holder: Holder, end?: () => void): OpenEntry | Failure;
}

interface Entry {
  readonly holder: Holder;
  readonly end: (() => void) | undefined;
}

/** Retry hint, in ms, when there is no room. */
const RETRY_MS = 2_000;

/** Creates an empty register. @param what name of the things in a refusal */
export function createOpenRegister(what: string, bounds: OpenBounds): OpenRegister {
  /** Things by holder, least recently used first. */
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
