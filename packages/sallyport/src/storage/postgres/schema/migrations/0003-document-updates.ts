import { type Kysely, type Migration, sql } from 'kysely';

/** The number of deletions of documents so far, which instances poll (DOC-02). */
const STATEMENTS = `
create table sallyport.document_updates (
  only_row boolean primary key default true check (only_row),
  deletions bigint not null
);
insert into sallyport.document_updates (deletions) values (0);`;

/** The count of deletions of documents. */
export const documentUpdates: Migration = {
  async up(database: Kysely<unknown>) {
    await sql.raw(STATEMENTS).execute(database);
  },
};
