import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createToolLayer, type Log, silentLog } from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

const LOCAL = { door: 'library', local: true } as const;

test('EXT-06.3 a layer that starts names a credential that ended in one event, in the log of each start, and no value', async () => {
  const folder = await temporaryDataFolder('sallyport-e2e-');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const described =
    '[[credential]]\nname = "old_key"\ncredential_type = "api_key"\nexpires_at = 2020-01-01T00:00:00Z\n';
  await writeFile(join(folder, 'credentials.toml'), described);
  const logged: [event: string, fields: unknown][] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void logged.push([event, fields]) };
  const environment = { SALLYPORT_SECRET_OLD_KEY: 'planted-value' };
  for (const start of [1, 2]) {
    await using layer = await createToolLayer({ settings: { data_folder: folder }, log, environment });
    const named = () => logged.filter(([event]) => event === 'credential-ending');
    await vi.waitFor(() => expect(named()).toHaveLength(start), 50_000);
    const { events } = await layer.ask('audit.query', { type: 'ai.agent.credential.ending' }, LOCAL);
    expect(events.map(({ subject, data }) => [subject, data['reason'], data['name']])).toEqual([
      ['old_key', 'expired', 'old_key'],
    ]);
    expect(JSON.stringify([events, logged])).not.toContain('planted-value');
  }
});

test('EXT-06.1 a layer does not start with a file of credentials that has faults, or is not there', async () => {
  const folder = await temporaryDataFolder('sallyport-e2e-');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'credentials.toml'), '[[credential]]\nname = "a"\ncredential_value = "planted-value"\n');
  const start = (file = '') =>
    createToolLayer({
      settings: { data_folder: folder, 'secrets.credentials_file': file },
      log: silentLog,
      environment: {},
    });
  const refused = await start().catch((thrown) => thrown);
  expect(refused).toMatchObject({ code: 'E3801', message: expect.stringContaining('/credential/0') });
  expect(refused.message).not.toContain('planted-value');
  await expect(start(join(folder, 'absent.toml'))).rejects.toMatchObject({
    code: 'E3801',
    message: expect.stringContaining('secrets.credentials_file'),
  });
});
