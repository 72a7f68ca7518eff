import type { Migration } from 'kysely';
import { firstTables } from './0001-tables.ts';
import { upstreamAuthorizations } from './0002-upstream-authorizations.ts';
import { documentUpdates } from './0003-document-updates.ts';

/** Every migration by name, in order. A migration that was released is never changed; a new one follows it. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-tables': firstTables,
  '0002-upstream-authorizations': upstreamAuthorizations,
  '0003-document-updates': documentUpdates,
};
