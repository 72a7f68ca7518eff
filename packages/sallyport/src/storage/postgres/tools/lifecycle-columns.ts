import type { Selectable } from 'kysely';
import type { VersionLifecycle } from '../../../registry/tool-store.port.ts';
import { keyOfText, keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

type VersionRow = Selectable<Tables['sallyport.tool_versions']>;

/** A lifecycle as columns; `lifecycle` is not serialised yet. */
export function lifecycleColumns(from: VersionLifecycle) {
  const { state, deprecatedInFavorOf, deprecatedAt, removableAt, migrationGuide, stateChanges } = from;
  return {
    state,
    deprecated_in_favor_of: deprecatedInFavorOf === undefined ? null : keyText(deprecatedInFavorOf),
    deprecated_at: deprecatedAt ?? null,
    removable_at: removableAt ?? null,
    lifecycle: {
      ...(migrationGuide === undefined ? {} : { migrationGuide }),
      ...(stateChanges === undefined ? {} : { stateChanges }),
    },
  };
}

/** The lifecycle in the columns. */
export function lifecycleOf(row: VersionRow): VersionLifecycle {
  const { state, deprecated_in_favor_of, deprecated_at, removable_at, lifecycle } = row;
  return {
    state,
    ...(deprecated_in_favor_of === null ? {} : { deprecatedInFavorOf: keyOfText(deprecated_in_favor_of) }),
    ...(deprecated_at === null ? {} : { deprecatedAt: deprecated_at.toISOString() }),
    ...(removable_at === null ? {} : { removableAt: removable_at.toISOString() }),
    ...lifecycle,
  };
}
