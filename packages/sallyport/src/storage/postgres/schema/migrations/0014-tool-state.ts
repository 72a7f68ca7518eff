import { type Kysely, type Migration, sql } from 'kysely';

/** What tools keep in the layer, and what calls under way have written of it (PIPE-03). */
export const toolState: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [REVISIONS, VALUES, HELD]) await sql.raw(statement).execute(database);
  },
};

/** Numbers that never come twice, so that a value which was removed and written anew is told from the one before. */
const REVISIONS = 'create sequence sallyport.tool_state_revisions';

/**
 * \`value\` is what completed calls left, \`next\` what the holder has written, both as JSON text; null: nothing. A row has
 * one of them at least, or a holder that removes.
 */
const VALUES = `
create table sallyport.tool_state (
  tenant_id text collate "C" not null,
  owner_id text collate "C" not null,
  tool_id text collate "C" not null,
  name text collate "C" not null,
  revision bigint not null default 0,
  value text,
  held_by text collate "C",
  fence bigint,
  next text,
  primary key (tenant_id, owner_id, tool_id, name)
) with (fillfactor = 80)`;

const HELD = 'create index tool_state_held on sallyport.tool_state (tenant_id, held_by) where held_by is not null';
