import type { CallOwner } from '../domain/invocation/call-owner.ts';

/** The whole text of a result that was shortened. */
export interface Overflow extends CallOwner {
  readonly invocationId: string;
  /** As the caller may see it: what redaction and policies took out is not in it. */
  readonly text: string;
  /** Epoch ms. */
  readonly keptAt: number;
}

/** Overflows of one agent and user that are kept at once; the oldest go first. */
export const OVERFLOWS_PER_OWNER_MAX = 32;

/** Whole texts of shortened results, for every instance over one database (MOD-06). */
export interface OverflowStore {
  /**
   * Keeps the overflow of a call in place of an earlier one of that call, and forgets the owner's oldest ones beyond
   * {@link OVERFLOWS_PER_OWNER_MAX}.
   * @throws ToolLayerError E3812 when the store cannot take it
   */
  keep(overflow: Overflow): Promise<void>;
  /**
   * Finds the overflow of a call of any owner.
   * @returns undefined when there is none (any more)
   */
  find(tenantId: string, invocationId: string): Promise<Overflow | undefined>;
  /**
   * Forgets overflows kept before a time, of all tenants.
   * @param limit overflows that are forgotten at most
   * @returns how many were
   */
  forget(before: number, limit: number): Promise<number>;
}
