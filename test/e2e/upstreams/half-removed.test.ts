import { expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { run as sql } from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { openLayer } from '../layer.fixture.ts';

test('REG-09 an upstream whose removal was cut off is removed by another request, and not said to be gone while its tools stay', async () => {
  await using opened = await openLayer({ 'search.embedder': 'none' });
  const { layer } = opened;
  const connection = layer.embeddedDatabase;
  if (connection === undefined) throw new Error('the layer has no database of its own');
  const remove = (name: string) => layer.ask('upstreams.remove', { name }, LOCAL_CALLER);
  const upstream = { name: 'ctx', transport: { type: 'embedded', server: 'context' } } as const;
  const { registrations } = await layer.ask('upstreams.add', { upstream }, LOCAL_CALLER);
  const ids = registrations.map(({ tool_id }) => tool_id).sort();
  expect(ids.length).toBeGreaterThan(0);
  const listed = async () => {
    const { tools } = await layer.ask('tools.list', {}, LOCAL_CALLER);
    return tools.map(({ tool_id }) => tool_id).filter((id) => ids.includes(id));
  };
  await sql(
    connection,
    `create function sallyport.refuse() returns trigger language plpgsql as $$begin raise exception 'away'; end$$;
    create trigger refuse before update on sallyport.tool_versions execute function sallyport.refuse()`,
  );
  await expect(remove('ctx')).rejects.toMatchObject({ code: 'E3812' });
  expect(await listed()).toHaveLength(ids.length);
  await sql(connection, 'drop trigger refuse on sallyport.tool_versions');
  const { removed_tools } = await remove('ctx');
  expect(removed_tools.toSorted()).toEqual(ids);
  expect(await listed()).toEqual([]);
  await expect(remove('ctx')).rejects.toMatchObject({ code: 'E3809' });
}, 120_000);
