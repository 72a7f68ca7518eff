import { type Kysely, type Migration, sql } from 'kysely';

/** Vectors by model and hash of the text that they were made from, whoever's tool it is. Only a cache (REG-06, REG-07). */
export const vectors: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [TABLE, BY_DAY]) await sql.raw(statement).execute(database);
  },
};

/** The numbers of a vector hardly compress; trying costs more than it saves. */
const TABLE = `
create table sallyport.embedding_vectors (
  model text not null,
  content_hash text not null,
  dimensions integer not null,
  vector bytea not null,
  used_on date not null default current_date,
  primary key (model, content_hash)
);
alter table sallyport.embedding_vectors alter column vector set storage external`;

const BY_DAY = 'create index embedding_vectors_used on sallyport.embedding_vectors (used_on)';
