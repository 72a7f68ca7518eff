import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { type Kysely, sql, type Transaction } from 'kysely';
import {
  SKILL_CONTENT_BOUNDS,
  type SkillContentBounds,
  type SkillContents,
} from '../../../registry/skill-files.port.ts';
import { inDatabase } from '../database-error.ts';
import { keyText } from '../key-text.ts';
import type { Tables } from '../schema/tables.ts';

const TABLE = 'sallyport.skill_contents';
const SHA256 = /^[0-9a-f]{64}$/;

/** Contents of skills in PostgreSQL. Writers of one tenant take turns, so that its limit holds. */
export function postgresSkillContents(
  database: Kysely<Tables>,
  bounds: SkillContentBounds = SKILL_CONTENT_BOUNDS,
): SkillContents {
  return {
    put: (tenantId, contents) =>
      inDatabase('keep the files of the skill', () =>
        database.transaction().execute((transaction) => put(transaction, bounds, keyText(tenantId), contents)),
      ),
    get: (tenantId, hash) =>
      inDatabase('read a file of a skill', async () => {
        if (!SHA256.test(hash)) return undefined;
        const row = await database
          .selectFrom(TABLE)
          .select('content')
          .where('tenant_id', '=', keyText(tenantId))
          .where('sha256', '=', Buffer.from(hash, 'hex'))
          .executeTakeFirst();
        return row?.content;
      }),
    sweep: (tenantId, named, putBeforeMs) =>
      inDatabase('remove files of skills that nobody names', async () => {
        const stay = [...named].filter((hash) => SHA256.test(hash)).map((hash) => Buffer.from(hash, 'hex'));
        const { numDeletedRows } = await database
          .deleteFrom(TABLE)
          .where('tenant_id', '=', keyText(tenantId))
          .where('put_at', '<', new Date(putBeforeMs))
          .where(sql<boolean>`not sha256 = any(${stay}::bytea[])`)
          .executeTakeFirst();
        return Number(numDeletedRows);
      }),
  };
}

async function put(
  transaction: Transaction<Tables>,
  { contentBytesMax, tenantBytesMax }: SkillContentBounds,
  tenant: string,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  if (contents.size === 0) return;
  for (const { byteLength } of contents.values()) {
    if (byteLength > contentBytesMax) throw tooLarge(`one content has ${byteLength} bytes`);
  }
  await sql`select pg_advisory_xact_lock(hashtextextended(${`skill-contents ${tenant}`}, 0))`.execute(transaction);
  const hashes = [...contents.keys()].map((hash) => Buffer.from(hash, 'hex'));
  // Marks existing contents as used now, so that no sweep removes them before their skill is registered.
  const there = await transaction
    .updateTable(TABLE)
    .set({ put_at: sql`now()` })
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`sha256 = any(${hashes}::bytea[])`)
    .returning('sha256')
    .execute();
  const known = new Set(there.map(({ sha256 }) => sha256.toString('hex')));
  const added = [...contents].filter(([hash]) => !known.has(hash));
  const { taken } = await transaction
    .selectFrom(TABLE)
    .select(sql<string>`coalesce(sum(bytes), 0)`.as('taken'))
    .where('tenant_id', '=', tenant)
    .executeTakeFirstOrThrow();
  const bytes = added.reduce((sum, [, { byteLength }]) => sum + byteLength, Number(taken));
  if (bytes > tenantBytesMax) throw tooLarge(`those of the tenant would have ${bytes} bytes`);
  // One at a time: a statement with all of them would be in memory twice.
  for (const [hash, content] of added) {
    await transaction
      .insertInto(TABLE)
      .values({
        tenant_id: tenant,
        sha256: Buffer.from(hash, 'hex'),
        bytes: content.byteLength,
        content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
      })
      .execute();
  }
}

function tooLarge(what: string): ToolLayerError {
  return new ToolLayerError(
    'E3810',
    `There is no room for the files of the skill: ${what}. Remove skills that nobody needs.`,
  );
}
