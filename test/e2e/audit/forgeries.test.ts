import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { AuditVerification } from '../../../packages/sallyport/api/schemas/audit.ts';
import {
  createToolLayer,
  type EmbeddedToolLayer,
  LOCAL_CALLER,
  silentLog,
} from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';
import { FORGERIES, type ForgedCalls, type Forgery } from './forgeries.fixture.ts';

/** A database client that may write to every table, and has neither the signing key nor the data folder. */
let intruder: Client;
let opened: OpenLayer;
let calls: ForgedCalls;

const TABLES = ['tool_invocations', 'audit_events', 'audit_checkpoints', 'idempotency_keys'];

beforeAll(async () => {
  opened = await openLayer({ 'audit.checkpoint_seconds': 0.05 });
  const { layer } = opened;
  await layer.registerFunction(DOUBLE, double);
  await layer.registerFunction({ ...DOUBLE, tool_id: 'write', side_effect_policy: 'irreversible' }, double);
  calls = { keyed: await call('write', 'k'), pure: await call('double'), last: await call('double') };
  const { socketFolder: host, ...rest } = layer.embeddedDatabase ?? expect.fail('the database is embedded');
  intruder = new Client({ host, ...rest });
  await intruder.connect();
  await headIsKept();
  for (const table of TABLES) {
    await intruder.query(`alter table sallyport.${table} disable trigger user;
      create temporary table saved_${table} as table sallyport.${table}`);
  }
});
afterEach(async () => {
  for (const table of TABLES) {
    await intruder.query(`truncate sallyport.${table}; insert into sallyport.${table} table saved_${table}`);
  }
});
afterAll(async () => {
  await intruder.end();
  await opened[Symbol.asyncDispose]();
});

/** Waits until the head that is kept in the data folder is that of the newest event. */
const headIsKept = () =>
  vi.waitFor(async () => {
    const { events } = await verify();
    const text = await readFile(join(opened.folder, 'audit-heads.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ heads: [{ seq: events }] });
  }, 50_000);

/**
 * Writes an event, which fails because the layer meets events that it did not write; then makes a call that succeeds.
 */
async function writeMore(): Promise<void> {
  await expect(opened.layer.mintToken({})).rejects.toMatchObject({ code: 'E3812' });
  await call('double');
  await headIsKept();
}

const verify = () => opened.layer.ask('audit.verify', {}, LOCAL_CALLER);

async function call(tool_id: string, idempotency_key?: string): Promise<string> {
  const options = idempotency_key === undefined ? {} : { execution_options: { idempotency_key } };
  const made = await opened.layer.invoke({ tool_id, parameters: { n: 2 }, ...options }, { token: opened.token });
  return made.invocation_id;
}

/** All reasons that a verification reports. */
const namedBy = ({ chains, heads, warnings, calls: { first_gaps } }: AuditVerification): readonly string[] => [
  ...chains.flatMap(({ first_broken }) => first_broken?.reason ?? []),
  ...heads.faults.map(({ reason }) => reason),
  ...first_gaps.map(({ reason }) => reason),
  ...warnings,
];

test('AUD-03.2 AUD-07 tables that nobody touched are whole', async () => {
  const verified = await verify();
  expect(namedBy(verified)).toEqual([]);
  expect(verified).toMatchObject({ whole: true, heads: { checked: 1 }, warnings: [] });
});

test.each(FORGERIES.map((forgery) => [forgery.what, forgery] as const))(
  'AUD-03.1 AUD-03.3 AUD-07.3 what takes no key: %s',
  async (_, { forge, named, isWarning = false, goesOn = false }) => {
    await forge(intruder, calls);
    if (goesOn) await writeMore();
    const verified = await verify();
    if (named === undefined) expect(namedBy(verified)).toEqual([]);
    else expect(namedBy(verified)).toContainEqual(expect.stringContaining(named));
    expect(verified.whole).toBe(named === undefined || isWarning);
  },
);

test('AUD-07 the table of docs/audit.md says what this test shows', async () => {
  const page = await readFile(new URL('../../../docs/audit.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split('| What is done to the tables | What `audit verify` says |\n|---|---|\n');
  const answer = ({ named, isWarning }: Forgery) =>
    named === undefined ? '**nothing**' : `${isWarning ? 'a warning: ' : ''}“… ${named} …”`;
  expect(table.split('\n\n')[0]?.split('\n')).toEqual(
    FORGERIES.map((forgery) => `| ${forgery.what} | ${answer(forgery)} |`),
  );
});

/** After the newest events were deleted and the layer has written more, verification still reports the lost head. */
const REASON = expect.stringMatching(
  /which was the head at .*(has another hash now: the chain was written anew|is gone)/,
);
const MISSED = { whole: false, chains: [{ whole: true }], calls: { gaps: 0 }, heads: { faults: [{ reason: REASON }] } };

test('AUD-07 newest events that are deleted stay missed when the layer goes on behind them, and after its next start', async () => {
  const folder = await temporaryDataFolder('sallyport-e2e-');
  const open = async (): Promise<EmbeddedToolLayer> => {
    const settings = { data_folder: folder, 'audit.checkpoint_seconds': 3_600 };
    const layer = await createToolLayer({ settings, log: silentLog, environment: {} });
    await layer.registerFunction(DOUBLE, double);
    return layer;
  };
  try {
    {
      await using first = await open();
      await use(first);
    }
    {
      await using second = await open();
      await cutOff(second);
      await expect(use(second)).rejects.toMatchObject({ code: 'E3812' });
      await use(second);
      expect(await second.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject(MISSED);
      for (let at = 0; at < 3; at += 1) await use(second);
    }
    await using third = await open();
    expect(await third.ask('audit.verify', {}, LOCAL_CALLER)).toMatchObject(MISSED);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function use(layer: EmbeddedToolLayer): Promise<void> {
  const { capability_token } = await layer.mintToken({});
  const made = await layer.invoke({ tool_id: 'double', parameters: { n: 1 }, capability_token });
  expect(made.status).toBe('success');
}

/** Deletes all calls, and all events of the chain from the first call on. */
async function cutOff({ embeddedDatabase }: EmbeddedToolLayer): Promise<void> {
  const { socketFolder: host, ...rest } = embeddedDatabase ?? expect.fail('the database is embedded');
  const database = new Client({ host, ...rest });
  await database.connect();
  const first = 'select min(first_seq) from sallyport.audit_events where invocation_id is not null';
  await database.query(`alter table sallyport.audit_events disable trigger user;
    alter table sallyport.audit_checkpoints disable trigger user;
    delete from sallyport.audit_checkpoints where seq >= (${first});
    delete from sallyport.audit_events where first_seq >= (${first});
    delete from sallyport.tool_invocations`);
  await database.end();
}
