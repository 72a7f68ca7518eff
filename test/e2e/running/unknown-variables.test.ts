import { rm } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createToolLayer, type Log, silentLog } from '../../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';

/** Starts a layer with these environment variables. Returns its warnings. */
async function warningsWith(environment: Readonly<Record<string, string>>) {
  const folder = await temporaryDataFolder('sallyport-e2e-');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const warnings: [event: string, fields: unknown][] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void warnings.push([event, fields]) };
  const layer = await createToolLayer({ settings: { data_folder: folder }, log, environment });
  await layer.close();
  return warnings;
}

test('variables that mean nothing are told once at the start, with what may be meant, and without their values', async () => {
  const environment = {
    SALLYPORT_SERVER_PROT: '7421',
    SALLYPORT_HOST: 'planted-value',
    SALLYPORT_NOTHING_LIKE_IT: 'planted-value',
    SALLYPORT_CALLS_MAX: '7',
    SALLYPORT_TOKEN: 'a',
    SALLYPORT_SECRET_KEY: 'b',
    SALLYPORT_EMPTY: '',
    OTHER_VARIABLE: 'c',
  };
  const warnings = await warningsWith(environment);
  expect(warnings.filter(([event]) => event === 'unknown-variables')).toEqual([
    [
      'unknown-variables',
      {
        variables: [
          'SALLYPORT_SERVER_PROT; did you mean SALLYPORT_SERVER_PORT',
          'SALLYPORT_HOST; did you mean SALLYPORT_SERVER_HOST',
          'SALLYPORT_NOTHING_LIKE_IT',
        ],
      },
    ],
  ]);
  expect(JSON.stringify(warnings)).not.toContain('planted-value');
});

test('variables of settings, of secrets and of the command line are told by no warning', async () => {
  const environment = { SALLYPORT_CALLS_MAX: '7', SALLYPORT_TOKEN: 'a', SALLYPORT_SECRET__acme__KEY: 'b' };
  const events = (await warningsWith(environment)).map(([event]) => event);
  expect(events).not.toContain('unknown-variables');
});
