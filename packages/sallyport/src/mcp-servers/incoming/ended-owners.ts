import type { Askers } from './asker.ts';

/** The owners of the calls that ended last on a connection. */
export interface EndedOwners {
  note(owner: string | undefined, at: number): void;
  /** Owners of calls that ended at `since` or later: the newest, and another one where there is one. */
  since(since: number): Askers['ended'];
}

/** Remembers two owners: more are not told apart. Times are monotonic, ms. */
export function createEndedOwners(): EndedOwners {
  let newest: { readonly owner: string | undefined; readonly at: number } | undefined;
  let other: typeof newest;
  return {
    note(owner, at) {
      if (newest !== undefined && newest.owner !== owner) other = newest;
      newest = { owner, at };
    },
    since: (since) => [newest, other].flatMap((each) => (each === undefined || each.at < since ? [] : [each.owner])),
  };
}
