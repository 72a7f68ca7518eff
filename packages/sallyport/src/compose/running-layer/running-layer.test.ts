import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findLayer, openLayer } from '../open-layer.ts';
import { place } from '../parts/gateway/standard-streams.ts';
import { readSettings } from '../read-settings.ts';
import { developmentFolder, withDevelopmentServer } from '../settings/development-settings.ts';
import { unknownVariables } from '../settings/unknown-variables.ts';
import type { Settings } from '../settings.ts';
import { lastLayer, rememberLayer } from './last-layer.ts';
import { isAlive, readRunningLayers, removeRunningLayer, writeRunningLayer } from './running-layer-file.ts';
import { loginNotice, settingsOfServe } from './serve-until-stopped.ts';

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
    expect(await readRunningLayers(folder)).toEqual([entry(process.pid, { endsWithClient: true })]);
    await writeRunningLayer(folder, entry(process.pid, { endsWithClient: false }));
    expect(await readRunningLayers(folder)).toEqual([entry(process.pid)]);
    for (const wrong of [{ url: 1 }, { socket: 1 }, { pid: 'x' }, { pid: String(process.pid) }]) {
      await writeFile(join(folder, 'running-s.json'), JSON.stringify(entry(process.pid, wrong)));
      expect(await readRunningLayers(folder)).toEqual([]);
    }
    expect(await readdir(folder)).toEqual(['running-s.json']);
  });

  test('API-05 of each layer of a data folder is there as long as that one runs, and no longer', async () => {
    const entries = ['/one', '/two', '/three'].map((socket) => entry(process.pid, { socket }));
    const sockets = async () => (await readRunningLayers(folder)).map(({ socket }) => socket);
    await Promise.all(entries.map((each) => writeRunningLayer(folder, each)));
    expect((await sockets()).toSorted()).toEqual(['/one', '/three', '/two']);
    await removeRunningLayer(folder, '/two');
    expect((await sockets()).toSorted()).toEqual(['/one', '/three']);
    // The file of a layer that was killed stays until another one starts.
    await writeFile(
      join(folder, 'running-killed.json'),
      JSON.stringify(entry(NOBODY, { socket: '/killed', since: 1 })),
    );
    expect(await sockets()).not.toContain('/killed');
    await writeRunningLayer(folder, entry(process.pid, { socket: '/four' }));
    expect(await readdir(folder)).toEqual(['one', 'three', 'four'].toSorted().map((name) => `running-${name}.json`));
    await writeFile(
      join(folder, 'running-first.json'),
      JSON.stringify(entry(process.pid, { socket: '/first', since: 1 })),
    );
    expect((await sockets())[0]).toBe('/first');
    for (const socket of ['/one', '/three', '/four', '/first', '/none']) await removeRunningLayer(folder, socket);
    expect(await readdir(folder)).toEqual([]);
    expect([isAlive(process.pid), isAlive(NOBODY)]).toEqual([true, false]);
  });
});

describe('a command', () => {
  const own = (folderOfLayer: string) =>
    writeFile(join(folderOfLayer, 'instance-id'), 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa\n');

  test('API-05 a client on standard streams gets the layer that is named, else that of the folder, else the last one', async () => {
    const [working, last, named] = ['working', 'last', 'named'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const each of [working, last, named]) await mkdir(each);
    vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'));
    vi.stubEnv('SALLYPORT_DATA_FOLDER', '');
    const before = process.cwd();
    onTestFinished(() => {
      process.chdir(before);
      vi.unstubAllEnvs();
    });
    process.chdir(working);
    const here = { folder: join(await realpath(working), '.sallyport'), how: 'of the working folder', options: {} };
    expect(await place({})).toEqual(here);
    await rememberLayer(last);
    // It was removed since.
    expect(await place({})).toEqual(here);
    await own(last);
    const found = { folder: last, how: 'of the layer that was started last' };
    expect(await place({ tools: 'all' })).toEqual({ ...found, options: { tools: 'all', dataFolder: last } });
    await mkdir(join(working, '.sallyport'));
    await own(join(working, '.sallyport'));
    expect(await place({})).toEqual(here);
    vi.stubEnv('SALLYPORT_DATA_FOLDER', named);
    expect(await place({})).toEqual({ folder: named, how: 'from the settings', options: {} });
    const option = { dataFolder: 'other' };
    expect(await place(option)).toEqual({
      folder: join(await realpath(working), 'other'),
      how: 'from --data-folder',
      options: option,
    });
  });

  test('API-05 serve takes the address and the data folder of its options, and leaves the others to the settings', () => {
    expect(settingsOfServe({})).toEqual({});
    expect(settingsOfServe({ dataFolder: '/data', host: '::1', port: 0, authorizes: false })).toEqual({
      ...{ data_folder: '/data', 'server.host': '::1', 'server.port': 0, 'auth.dev': false },
    });
  });

  test('PRM-11.7 the login code is shown to a person alone: what a service prints may be kept', () => {
    const server = { loginCode: 'AAAAA-BBBBB', loginCodeFile: '/data/code', users: ['ann', 'bob'] };
    const shown = loginNotice('http://127.0.0.1:1', server, true);
    expect(shown).toContain('clients connect to http://127.0.0.1:1/mcp, and ann or bob logs in');
    expect(shown).toContain('Login code: AAAAA-BBBBB\n');
    for (const isShown of [false, undefined])
      expect(loginNotice('http://127.0.0.1:1', server, isShown)).toMatch(/Login code: in \/data\/code\n$/);
  });

  test('API-05 a layer that does not answer, or whose socket is not of the owner, is none', async () => {
    const options = { environment: { SALLYPORT_DATA_FOLDER: folder }, whenAbsent: 'refuse' as const };
    const none = expect.objectContaining({ code: 'E3310', message: expect.stringContaining(`data folder ${folder}`) });
    await expect(openLayer({}, options)).rejects.toEqual(none);
    const sockets = join(folder, 'sockets');
    await mkdir(sockets, { mode: 0o700 });
    const running = { url: 'http://127.0.0.1:9', pid: process.pid, socket: join(sockets, 'a.sock') };
    await writeRunningLayer(folder, running);
    await expect(findLayer({}, options)).rejects.toEqual(none);
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"status":"ready","ready":true}');
    });
    onTestFinished(() => void server.close());
    await once(server.listen(running.socket), 'listening');
    expect(await findLayer({}, options)).toMatchObject({ running });
    expect(await openLayer({}, options)).toMatchObject({ url: running.url, dataFolder: folder });
    await chmod(sockets, 0o755);
    await expect(findLayer({}, options)).rejects.toEqual(none);
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
  await symlink(join(folder, 'real'), join(folder, 'sallyport'));
  await rememberLayer('/data', { XDG_STATE_HOME: folder });
  expect(await readdir(join(folder, 'real'))).toEqual([]);
});
