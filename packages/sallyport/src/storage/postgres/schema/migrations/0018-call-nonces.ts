import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Claims and rows belong to the call whose nonce they have (adr/0013). A claim that was made before belongs to the call with
 * its invocation id; the row of such a call has no nonce, as has every row whose id the layer made.
 */
export const callNonces: Migration = {
  async up(database: Kysely<unknown>) {
    for (const statement of [CLAIMS, ROWS]) await sql.raw(statement).execute(database);
  },
};

const CLAIMS = `
alter table sallyport.idempotency_keys add column nonce text;
update sallyport.idempotency_keys set nonce = invocation_id;
alter table sallyport.idempotency_keys alter column nonce set not null;`;

const ROWS = 'alter table sallyport.tool_invocations add column nonce text';
