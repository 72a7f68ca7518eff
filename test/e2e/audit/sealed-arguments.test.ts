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
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
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

describe('arguments of a call that waits', () => {
  test('PIPE-07 ORC-03 are nowhere in the data folder, are shown to the approver, and reach the tool after a restart', async () => {
    const folder = await dataFolder();
    const text = words();
    const first = await letters(folder);
    const { approval_id, invocationId } = await first.ask(text);
    expect((await first.approval(approval_id)).body).toMatchObject({ parameters: { text } });
    await opened.pop()?.[Symbol.asyncDispose]();
    expect(holders(folder, text)).toEqual([]);

    const second = await letters(folder);
    expect((await second.approval(approval_id)).body).toMatchObject({ parameters: { text } });
    expect((await second.approve(approval_id)).status).toBe(200);
    await second.desk.reaches(invocationId, 'COMPLETED');
    const edited = words();
    const other = await second.ask(words());
    expect((await second.approve(other.approval_id, { text: edited })).status).toBe(200);
    await second.desk.reaches(other.invocationId, 'COMPLETED');
    expect(second.sent).toEqual([text, edited]);
    await opened.pop()?.[Symbol.asyncDispose]();
    for (const each of [text, edited]) expect(holders(folder, each)).toEqual([]);
  });

  test('PIPE-07 without their key the call does not run with others, and runs once the key is back', async () => {
    const folder = await dataFolder();
    const text = words();
    const { approval_id, invocationId } = await (await letters(folder)).ask(text);
    await opened.pop()?.[Symbol.asyncDispose]();

    const key = join(folder, 'secrets', 'key');
    await rename(key, `${key}.kept`);
    const without = await letters(folder);
    expect(await without.approve(approval_id)).toMatchObject({ status: 503, body: { e_code: 'E3812' } });
    await expect(without.desk.status(invocationId)).rejects.toThrow(
      `The arguments of ${invocationId} cannot be decrypted. Restore the key`,
    );
    await opened.pop()?.[Symbol.asyncDispose]();
    expect(without.sent).toEqual([]);

    await rename(`${key}.kept`, key);
    const again = await letters(folder);
    expect((await again.approve(approval_id)).status).toBe(200);
    await again.desk.reaches(invocationId, 'COMPLETED');
    expect(again.sent).toEqual([text]);
  });
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
    await opened.pop()?.[Symbol.asyncDispose]();

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
