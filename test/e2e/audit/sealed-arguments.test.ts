import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Settings } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import {
  embeddedDatabases,
  run,
  type TestDatabases,
} from '../../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { AGENT, ALICE, type Desk, openDesk } from '../calls/desk.fixture.ts';

const LETTER: ToolManifest = {
  tool_id: 'letter',
  tool_name: 'Letter',
  version: '1.0.0',
  description: 'Sends a letter.',
  side_effect_policy: 'irreversible',
  execution_config: { requires_approval: true },
  parameters_schema: {
    type: 'object',
    properties: { text: { type: 'string', description: 'The text.' } },
    required: ['text'],
    additionalProperties: false,
  },
  executor: { kind: 'native' },
};

/** Random text that no detector takes for a secret. */
const words = (): string => `my dear ${randomBytes(9).toString('hex')}`;

const opened: Desk[] = [];
const closeLast = async () => opened.pop()?.[Symbol.asyncDispose]();
afterEach(async () => {
  while (opened.length > 0) await closeLast();
});

/** Opens a layer with a tool that sends letters; `sent` holds the text of each letter. */
async function letters(folder: string, settings: Partial<Settings> = {}) {
  const desk = await openDesk({ folder, settings });
  opened.push(desk);
  const sent: unknown[] = [];
  await desk.layer.registerFunction(LETTER, ({ text }) => {
    sent.push(text);
    return { done: true };
  });
  const agent = await desk.token(AGENT);
  const ask = async (text: string) => {
    const { body } = await desk.rest('POST', '/v1/invocations', agent, { tool_id: 'letter', parameters: { text } });
    expect(body['status']).toBe('pending_approval');
    return { invocationId: String(body['invocation_id']), ...(body['approval'] as { approval_id: string }) };
  };
  const alice = await desk.token(ALICE);
  const approval = (id: string) => desk.rest('GET', `/v1/approvals/${id}`, alice);
  const approve = (id: string, parameters?: object) =>
    desk.rest('POST', `/v1/approvals/${id}/approval`, alice, parameters === undefined ? {} : { parameters });
  return { desk, sent, ask, approval, approve };
}

/** The files below a folder that hold the text. */
const holders = (folder: string, text: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));

async function dataFolder(): Promise<string> {
  const folder = await temporaryDataFolder('sealed-arguments-');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('PIPE-07 ORC-03 arguments of a waiting call are nowhere in the data folder; without their key the call runs with no others; with it they are shown and reach the tool', async () => {
  const folder = await dataFolder();
  const [text, original, edited] = [words(), words(), words()];
  const first = await letters(folder);
  const letter = await first.ask(text);
  const changed = await first.ask(original);
  expect((await first.approval(letter.approval_id)).body).toMatchObject({ parameters: { text } });
  await closeLast();
  for (const each of [text, original]) expect(holders(folder, each)).toEqual([]);

  const key = join(folder, 'secrets', 'key');
  await rename(key, `${key}.kept`);
  const without = await letters(folder);
  expect(await without.approve(letter.approval_id)).toMatchObject({ status: 503, body: { e_code: 'E3812' } });
  await expect(without.desk.status(letter.invocationId)).rejects.toThrow(
    `The arguments of ${letter.invocationId} cannot be decrypted. Restore the key`,
  );
  await closeLast();
  expect(without.sent).toEqual([]);

  await rename(`${key}.kept`, key);
  const again = await letters(folder);
  expect((await again.approval(letter.approval_id)).body).toMatchObject({ parameters: { text } });
  expect((await again.approve(letter.approval_id)).status).toBe(200);
  await again.desk.reaches(letter.invocationId, 'COMPLETED');
  expect((await again.approve(changed.approval_id, { text: edited })).status).toBe(200);
  await again.desk.reaches(changed.invocationId, 'COMPLETED');
  expect(again.sent).toEqual([text, edited]);
  await closeLast();
  for (const each of [text, original, edited]) expect(holders(folder, each)).toEqual([]);
});

describe('over a database of the user’s own', () => {
  let databases: TestDatabases;
  beforeAll(async () => {
    databases = await embeddedDatabases(true);
  });
  afterAll(() => databases.close());

  test('PIPE-07 with a key that all instances have the arguments are encrypted, and another instance can run the call', async () => {
    const connection = await databases.fresh();
    const [folder, other] = [await dataFolder(), await dataFolder()];
    const file = join(folder, 'sealing-key');
    await writeFile(file, randomBytes(32).toString('base64'));
    const settings = { 'database.url': 'url' in connection ? connection.url : '', 'secrets.key_file': file };
    const text = words();
    const rows = async () => JSON.stringify(await run(connection, 'select record from sallyport.tool_invocations'));
    const { ask } = await letters(folder, settings);
    const { approval_id, invocationId } = await ask(text);
    expect(await rows()).not.toContain(text);
    expect(await rows()).toContain('sealed:1:');
    await closeLast();

    const second = await letters(other, settings);
    expect((await second.approve(approval_id)).status).toBe(200);
    await second.desk.reaches(invocationId, 'COMPLETED');
    expect(second.sent).toEqual([text]);
  });

  test('PIPE-07 a file without a key stops the start, and says how to make one', async () => {
    const folder = await dataFolder();
    const file = join(tmpdir(), `no-key-${randomBytes(6).toString('hex')}`);
    await expect(openDesk({ folder, settings: { 'secrets.key_file': file } })).rejects.toThrow(
      `${file} does not exist. Restore it from a backup; a new key is: openssl rand -base64 32`,
    );
  });
});
