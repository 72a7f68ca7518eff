import type { AuthorizationPlace, AuthorizationStore } from '../../authorization-store.port.ts';

/** A value as it was read, with the revision to replace it by. */
export interface Held<Value> {
  readonly value: Value;
  readonly revision: number;
}

/** One kept value of an upstream. */
export interface KeptValue<Value> {
  read(): Promise<Held<Value>>;
  /** @returns undefined when somebody else replaced it in between */
  replace(value: Value, held: Held<Value>): Promise<Held<Value> | undefined>;
  claim(held: Held<Value>, ms: number): Promise<boolean>;
}

/**
 * A value in the store, which is empty at first.
 * @param binding a value that was kept under another binding counts as empty, so that no token of one address is sent
 *   to another
 */
export function keptValue<Value extends object>(
  store: AuthorizationStore,
  place: AuthorizationPlace,
  binding: string,
): KeptValue<Partial<Value>> {
  return {
    async read() {
      const kept = await store.read(place);
      return { value: valueIn<Value>(kept?.text, binding), revision: kept?.revision ?? 0 };
    },
    async replace(value, { revision }) {
      const next = await store.replace(place, JSON.stringify({ binding, value }), revision);
      return next === undefined ? undefined : { value, revision: next };
    },
    claim: ({ revision }, ms) => store.claim(place, revision, ms),
  };
}

function valueIn<Value>(text: string | undefined, binding: string): Partial<Value> {
  if (text === undefined || text === '') return {};
  const kept = JSON.parse(text) as { readonly binding: string; readonly value: Partial<Value> };
  return kept.binding === binding ? kept.value : {};
}
