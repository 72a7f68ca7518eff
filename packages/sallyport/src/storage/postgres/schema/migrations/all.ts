import type { Migration } from 'kysely';
import { FIRST_TABLES, firstTables } from './0001-tables.ts';

/** Every migration by name, in order. A migration that was released is never changed; a new one follows it. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = { [FIRST_TABLES]: firstTables };
