import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../read-settings.ts';
import { developmentFolder, withDevelopmentServer } from '../settings/development-settings.ts';
import { unknownVariables } from '../settings/unknown-variables.ts';
import type { Settings } from '../settings.ts';
import { lastLayer, rememberLayer } from './last-layer.ts';
import { isAlive, readRunningLayer, removeRunningLayer, writeRunningLayer } from './running-layer-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'running-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});
const NOBODY = 4_194_305;

describe('the layer that was started last', () => {
  test('is known to this user, in the folder for state, whichever names it', async () => {
    const home = join(folder, 'home');
    const state = join(folder, 'state');
    for (const [environment, place] of [
      [{ HOME: home }, join(home, '.local', 'state', 'sallyport')],
      [{ HOME: home, XDG_STATE_HOME: state }, join(state, 'sallyport')],
      [
        { HOME: join(folder, 'other'), XDG_STATE_HOME: 'relative' },
        join(folder, 'other', '.local', 'state', 'sallyport'),
      ],
    ] as const) {
      expect(await lastLayer(environment)).toBeUndefined();
      await rememberLayer('/data/of-layer', environment);
      expect(await lastLayer(environment)).toBe('/data/of-layer');
      expect(await readdir(place)).toEqual(['last-layer.json']);
      const modes = [place, join(place, 'last-layer.json')].map(async (path) => (await stat(path)).mode & 0o777);
      expect(await Promise.all(modes)).toEqual([0o700, 0o600]);
    }
  });

  test('is not believed where others could have written it, or where it names no folder', async () => {
    const environment = { XDG_STATE_HOME: folder };
    await rememberLayer('/data', environment);
    const place = join(folder, 'sallyport');
    for (const text of ['{', '{}', '{"data_folder":"relative"}', '{"data_folder":7}', 'null']) {
      await writeFile(join(place, 'last-layer.json'), text);
      expect(await lastLayer(environment)).toBeUndefined();
    }
    await chmod(place, 0o755);
    await rememberLayer('/data', environment);
    expect(await readFile(join(place, 'last-layer.json'), 'utf8')).toBe('null');
    await writeFile(join(place, 'last-layer.json'), '{"data_folder":"/data"}');
    expect(await lastLayer(environment)).toBeUndefined();
    // A home that cannot be written costs only that.
    await writeFile(join(folder, 'file'), '');
    await rememberLayer('/data', { XDG_STATE_HOME: join(folder, 'file') });
  });
});

describe('the file of a running layer', () => {
  const entry = (pid: number, more: object = {}) => ({ url: 'http://127.0.0.1:1', pid, socket: '/s', ...more });

  test('says whether the layer ends with its client, and lacks nothing', async () => {
    await writeRunningLayer(folder, entry(process.pid, { endsWithClient: true }));
    expect(await readRunningLayer(folder)).toEqual(entry(process.pid, { endsWithClient: true }));
    await writeRunningLayer(folder, entry(process.pid, { endsWithClient: false }));
    expect(await readRunningLayer(folder)).toEqual(entry(process.pid));
    for (const wrong of [{ url: 1 }, { socket: 1 }, { pid: 'x' }, { pid: String(process.pid) }]) {
      await writeFile(join(folder, 'running.json'), JSON.stringify(entry(process.pid, wrong)));
      expect(await readRunningLayer(folder)).toBeUndefined();
    }
    expect(await readdir(folder)).toEqual(['running.json']);
  });

  test('is removed by its own process alone', async () => {
    await writeRunningLayer(folder, entry(process.ppid));
    await removeRunningLayer(folder);
    expect(await readRunningLayer(folder)).toEqual(entry(process.ppid));
    await writeRunningLayer(folder, entry(process.pid));
    await removeRunningLayer(folder);
    expect(await readdir(folder)).toEqual([]);
    await removeRunningLayer(folder);
    expect([isAlive(process.pid), isAlive(NOBODY)]).toEqual([true, false]);
  });
});

describe('settings that follow from others', () => {
  const DEV = { 'auth.dev': true, 'server.port': 7420 };
  const settingsWith = (given: Partial<Settings>): Settings => readSettings({ environment: {}, given });

  test.each([
    ['127.0.0.1', 'http://127.0.0.1:7420'],
    ['localhost', 'http://localhost:7420'],
    ['::1', 'http://[::1]:7420'],
  ])(
    'PRM-11.7 a layer at %s with an authorization server for development accepts that one’s tokens',
    (host, issuer) => {
      const given = settingsWith({
        ...DEV,
        'server.host': host,
        'oauth.tenant_claim': 'org',
        'oauth.algorithms': ['ES256'],
      });
      expect(withDevelopmentServer(given)).toEqual({
        ...given,
        ...{ 'server.public_url': issuer, 'oauth.issuer': issuer, 'oauth.tenant_claim': '' },
        ...{ 'oauth.algorithms': ['RS256'], 'oauth.token_types': ['at+jwt'] },
        'oauth.jwks_url': expect.stringMatching(/^http:\/\/.*:7420\/.+\/jwks$/),
      });
      const without = settingsWith({});
      expect(withDevelopmentServer(without)).toBe(without);
      expect(developmentFolder({ data_folder: '/data' })).toBe('/data/keys/authorization-server');
    },
  );

  test.each<[Partial<Settings>, string]>([
    [{ 'server.host': '0.0.0.0' }, 'loopback only, not on 0.0.0.0'],
    [{ 'server.port': 0 }, 'server.port must name a port'],
    [{ 'server.public_url': 'https://tools.example.com' }, 'server.public_url must be empty'],
    [{ 'database.url': 'postgres://db.example/layer' }, 'database.url must be empty'],
    [{ 'oauth.issuer': 'https://id.example' }, 'oauth.issuer must be empty; it is https://id.example'],
  ])('PRM-11.7 beside %j it is refused', (given, message) => {
    expect(() => withDevelopmentServer(settingsWith({ ...DEV, ...given }))).toThrow(
      expect.objectContaining({ code: 'E3801', message: expect.stringContaining(message) }),
    );
  });

  test('OPS-01.1 a variable that means nothing is named with the nearest that may be meant, those of tests and secrets are not', () => {
    const named = (...names: string[]) => unknownVariables(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(named('SALLYPORT_CALLS_MAXX', 'SALLYPORT_URL', 'SALLYPORT_NOTHING_LIKE_IT', 'SALLYPOR_CALLS_MAX')).toEqual([
      'SALLYPORT_CALLS_MAXX; did you mean SALLYPORT_CALLS_MAX',
      expect.stringMatching(/^SALLYPORT_URL; did you mean SALLYPORT_\w+_URL$/),
      'SALLYPORT_NOTHING_LIKE_IT',
    ]);
    const known = [
      'CONFIG',
      'TOKEN',
      'LAYER',
      'PUBLISHED',
      'WRITE_TABLES',
      'KILL_SEED',
      'TEST_DATABASE_URL',
      'SECRET_X',
      'CALLS_MAX',
    ];
    expect(named(...known.map((name) => `SALLYPORT_${name}`))).toEqual([]);
    expect(unknownVariables({ SALLYPORT_NONE: '', SALLYPORT_NOTHING: undefined })).toEqual([]);
  });
});

test('a folder of state that is a link is not written to', async () => {
  await mkdir(join(folder, 'real'));
  const { symlink } = await import('node:fs/promises');
  await symlink(join(folder, 'real'), join(folder, 'sallyport'));
  await rememberLayer('/data', { XDG_STATE_HOME: folder });
  expect(await readdir(join(folder, 'real'))).toEqual([]);
});
