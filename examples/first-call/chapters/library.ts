import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { createToolLayer, type EmbeddedToolLayer, LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { CommandResult } from '../sallyport-process.ts';
import type { Story } from '../story.ts';

/** What the chapter gets. */
export interface LibraryParts {
  readonly story: Story;
  readonly dataFolder: string;
  readonly sallyport: (...args: string[]) => Promise<CommandResult>;
}

/** The layer within this program, and the audit's proof. */
export async function libraryChapter({ story, dataFolder, sallyport }: LibraryParts): Promise<void> {
  story.step('As a library, on the same data folder');
  {
    await using layer = await createToolLayer({ settings: { data_folder: dataFolder } });
    await asLibrary(story, layer);
    await tamperedAudit(story, layer);
  }
  const verified = await sallyport('audit', 'verify');
  story.holds('audit verify says that the chain is whole', () => {
    assert.equal(verified.code, 0, verified.stderr);
    console.log(`      ${verified.stdout.trim().split('\n').join('\n      ')}`);
  });
  const { stdout } = await sallyport('audit', 'anchor');
  const kept = join(dataFolder, 'kept-elsewhere.jsonl');
  await writeFile(kept, stdout);
  const compared = await sallyport('audit', 'verify', '--anchors', kept);
  story.holds('the chain still has the head that was kept elsewhere', () => {
    assert.equal(compared.code, 0, compared.stderr);
    assert.match(compared.stdout, /(\d+) of \1 anchors hold/);
  });
}

async function asLibrary(story: Story, layer: EmbeddedToolLayer): Promise<void> {
  const parameters_schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  await layer.registerFunction(
    {
      tool_id: 'greet',
      tool_name: 'Greet',
      version: '1.0.0',
      description: 'Greets somebody.',
      side_effect_policy: 'pure',
      parameters_schema,
      executor: { kind: 'native' },
    },
    ({ name }) => `Hello, ${name}`,
  );
  const { capability_token } = await layer.mintToken({ tool_id: 'greet' });
  const greeted = await layer.invoke({ tool_id: 'greet', parameters: { name: 'Ada' }, capability_token });
  story.holds('a function of the program is a tool like any other', () => assert.equal(greeted.result, 'Hello, Ada'));
}

/** Somebody with access to the database changes one row and takes out another, and is found out; then puts them back. */
async function tamperedAudit(story: Story, layer: EmbeddedToolLayer): Promise<void> {
  const verify = () => layer.ask('audit.verify', {}, LOCAL_CALLER);
  const before = await verify();
  story.holds(`${before.events} events are whole`, () => {
    assert.equal(before.whole, true, JSON.stringify(before));
    assert.ok(before.events > 50);
  });
  const { socketFolder: host, ...rest } = layer.embeddedDatabase ?? assert.fail('the database is embedded');
  const database = new Client({ host, ...rest });
  await database.connect();
  try {
    await changeEvent(database, 'DENIED', 'GRANTED');
    const after = await verify();
    story.holds('a changed row is found and named', () => {
      assert.equal(after.whole, false);
      assert.match(after.chains.find(({ whole }) => !whole)?.first_broken?.reason ?? '', /does not match its hash/);
    });
    await changeEvent(database, 'GRANTED', 'DENIED');
    await database.query(`create temporary table taken as select * from sallyport.tool_invocations limit 1`);
    await database.query(
      'delete from sallyport.tool_invocations as call using taken where call.invocation_id = taken.invocation_id',
    );
    const { calls } = await verify();
    await database.query('insert into sallyport.tool_invocations select * from taken');
    story.holds('a call whose row was taken out is named', () => {
      assert.equal(calls.gaps, 1);
      assert.match(calls.first_gaps[0]?.reason ?? '', /it has no row/);
    });
  } finally {
    await database.end();
  }
}

async function changeEvent(database: Client, from: string, to: string): Promise<void> {
  await database.query('alter table sallyport.audit_events disable trigger all');
  const { rowCount } = await database.query(
    `update sallyport.audit_events set events = replace(events::text, $1, $2)::json
      where position = (select min(position) from sallyport.audit_events where events::text like '%' || $1 || '%')`,
    [`"state":"${from}"`, `"state":"${to}"`],
  );
  assert.equal(rowCount, 1);
  await database.query('alter table sallyport.audit_events enable trigger all');
}
