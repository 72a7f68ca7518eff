import { execFile } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { SPECIFICATION_FILES } from '../../../packages/sallyport/src/compose/settings/specifications/specification-files.fixture.ts';
import { createToolLayer, silentLog } from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { MAIN } from './sallyport-program.fixture.ts';

const run = promisify(execFile);

test.each(SPECIFICATION_FILES)(
  'OPS-06.2 a layer starts with the settings that config migrate made of $name',
  async ({ name, text, settings }) => {
    const folder = await temporaryDataFolder('sallyport-e2e-');
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, name), text);
    const output = join(folder, 'sallyport.toml');
    await run(process.execPath, [MAIN, 'config', 'migrate', name, '--output', output], { cwd: folder });
    const environment = { SALLYPORT_CONFIG: output };
    await using layer = await createToolLayer({ settings: { data_folder: folder }, log: silentLog, environment });
    expect(layer.settings).toMatchObject(settings);
    expect((await stat(output)).mode & 0o777).toBe(0o600);
  },
);

test('OPS-06.2 config migrate never replaces a file, and says on standard error what was not taken', async () => {
  const folder = await temporaryDataFolder('sallyport-e2e-');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'tools.toml'), '[tools.tafc]\nenabled = true\n[tools.retry]\nbudget_secs = 9\n');
  const { stdout, stderr } = await run(process.execPath, [MAIN, 'config', 'migrate', 'tools.toml'], { cwd: folder });
  expect(stdout).toContain('[retry]\n# from tools.retry.budget_secs (002 Tool Error Taxonomy)\nbudget_seconds = 9\n');
  expect(stderr).toContain('tools.tafc.enabled: the layer does not do this yet');
  const again = run(process.execPath, [MAIN, 'config', 'migrate', 'tools.toml', '--output', 'tools.toml'], {
    cwd: folder,
  });
  await expect(again).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('is there already') });
  expect(await readFile(join(folder, 'tools.toml'), 'utf8')).toContain('[tools.tafc]');
});
