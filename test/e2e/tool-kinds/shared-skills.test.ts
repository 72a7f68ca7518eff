import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  embeddedDatabases,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { type OpenLayer, openLayer } from '../layer.fixture.ts';

const { works, problem } = await createBubblewrapDriver().probe();
const SKILL = [
  { path: 'SKILL.md', content: '---\nname: greet\ndescription: Greets.\n---\nRun scripts/hello.sh.' },
  { path: 'scripts/hello.sh', content: '#!/bin/sh\necho "hello $1 of $PROJECT"; cat notes.md\n', executable: true },
  { path: 'notes.md', content: 'Grüße.\n' },
];
const OPERATOR = { door: 'library', local: true } as const;

let databases: TestDatabases;
/** Two layers on one database, each with its own data folder. */
let first: OpenLayer;
let second: OpenLayer;

beforeAll(async () => {
  databases = await embeddedDatabases(true);
  const connection = await databases.fresh();
  const settings = { 'database.url': 'url' in connection ? connection.url : '', 'tenant.may_run_programs': ['*'] };
  first = await openLayer(settings);
  second = await openLayer(settings);
  await first.layer.ask('tools.import-skill', { files: SKILL }, OPERATOR);
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await databases.close();
});

async function call(open: OpenLayer, parameters: Record<string, unknown>, execution_options = {}, tenant = 'default') {
  const { capability_token } = await open.layer.mintToken({ tenant_id: tenant });
  return open.layer.invoke({ tool_id: 'skill__greet', parameters, capability_token, execution_options });
}
const folderOf = ({ folder }: OpenLayer): string => join(folder, 'skills');

test('EXE-08 an instance reads the files of a skill that another one imported', async () => {
  expect(existsSync(folderOf(second))).toBe(false);
  expect(await call(second, { file: 'notes.md' })).toMatchObject({ status: 'success', result: { text: 'Grüße.\n' } });
  expect(readdirSync(folderOf(second))).toEqual(readdirSync(folderOf(first)));
});

test('EXE-08 an instance whose files were lost or changed gets them again', async () => {
  const [name = ''] = readdirSync(folderOf(second));
  const notes = join(folderOf(second), name, 'notes.md');
  await chmod(notes, 0o644);
  writeFileSync(notes, 'Forged.\n');
  expect(await call(second, { file: 'notes.md' })).toMatchObject({ result: { text: 'Grüße.\n' } });
  rmSync(folderOf(second), { recursive: true });
  expect(await call(second, { file: 'notes.md' })).toMatchObject({ result: { text: 'Grüße.\n' } });
});

test('EXE-08 nobody of another tenant reads the files by a manifest of their own that names their hashes', async () => {
  const { manifest } = await first.layer.ask('tools.get', { tool_id: 'skill__greet' }, OPERATOR);
  await second.layer.ask('tools.register', { manifest }, { ...OPERATOR, tenantId: 'globex' });
  for (const open of [first, second]) {
    const refused = await call(open, { file: 'notes.md' }, {}, 'globex');
    expect(refused).toMatchObject({ status: 'error', error: { e_code: 'E3901' } });
    expect(JSON.stringify(refused)).not.toContain('Grüße');
  }
});

describe.skipIf(!works)(`scripts${works ? '' : `, skipped: ${problem}`}`, () => {
  test('EXE-08.4 EXE-10 an instance runs a script that another one imported, with the variables of the call', async () => {
    rmSync(folderOf(second), { recursive: true, force: true });
    const options = { environment: { PROJECT: 'apollo' } };
    const answer = await call(second, { script: 'scripts/hello.sh', arguments: ['you'] }, options);
    expect(answer).toMatchObject({ status: 'success', result: { stdout: 'hello you of apollo\nGrüße.\n' } });
  });
});
