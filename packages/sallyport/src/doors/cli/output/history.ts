import type { ToolHistoryEntry } from '../../../../api/schemas/registry/tool-lifecycle.ts';

export const HISTORY_HEAD = [
  'VERSION',
  'STATE',
  'REGISTERED',
  'BY',
  'LAST USED',
  'REMOVABLE',
  'HASH',
  'REMARKS',
] as const;

/** Characters shown of a hash: enough for people to compare. */
const HASH_CHARS = 8;

/** One version of a tool as a row of a table. */
export function historyRow(entry: ToolHistoryEntry): string[] {
  const { version, state, registered_at, registered_by = '', last_used_at, removable_at, content_hash } = entry;
  return [
    version,
    state,
    dayOf(registered_at),
    registered_by,
    dayOf(last_used_at),
    dayOf(removable_at),
    content_hash.slice(0, HASH_CHARS),
    remarksOf(entry),
  ];
}

function remarksOf({ in_use, state, deprecated_in_favor_of, changes, release_notes }: ToolHistoryEntry): string {
  const last = changes.at(-1);
  const who = last?.by === undefined ? '' : ` by ${last.by}`;
  return [
    ...(deprecated_in_favor_of === undefined ? [] : [`use ${deprecated_in_favor_of}`]),
    ...(last === undefined
      ? []
      : [`${last.state} ${dayOf(last.at)}${who}${last.reason === undefined ? '' : `: ${last.reason}`}`]),
    ...(in_use && state !== 'removed' ? ['in use'] : []),
    ...(release_notes === undefined ? [] : [release_notes]),
  ].join('; ');
}

const dayOf = (time: string | undefined): string => time?.slice(0, 'YYYY-MM-DD'.length) ?? '';
