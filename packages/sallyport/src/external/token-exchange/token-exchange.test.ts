import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SecretStore } from '../secret-store.port.ts';
import { createTokenExchange, type ExchangeProfile, readExchangeProfiles } from '../token-exchange.ts';
import { type SeenExchange, type StandInAnswer, standInServer, tokenBody } from './authorization-server.fixture.ts';

const ALICE = 'aaaa.alice.sig';
const BOB = 'bbbb.bob.sig';
const STORED = new Map([
  ['idp', 'top: secret&1'],
  ['plain', 'value'],
]);
const stored: SecretStore = {
  read: async (_tenant, names) => new Map(names.map((name) => [name, STORED.get(name) ?? ''] as const)),
};

async function open(answerTo?: (seen: SeenExchange) => StandInAnswer, profile: Partial<ExchangeProfile> = {}) {
  const server = await standInServer(answerTo);
  onTestFinished(() => server[Symbol.asyncDispose]());
  let now = 1_000_000;
  const secrets = createTokenExchange({
    profiles: [{ name: 'files', endpoint: server.url, audience: 'files', ...profile }],
    secrets: stored,
    clock: { now: () => now, monotonic: () => now },
  });
  const read = async (token: string | undefined, tenant = 't1') =>
    (await secrets.read(tenant, ['files'], { token })).get('files');
  return { ...server, secrets, read, pass: (ms: number) => (now += ms) };
}

describe('the exchange', () => {
  test("PRM-11.3 the caller's token becomes one for the service, as RFC 8693 asks for it", async () => {
    const { read, seen } = await open(undefined, {
      clientId: 'layer one',
      clientSecret: 'idp',
      scope: 'a b',
      resource: 'https://files.example/',
    });
    expect(await read(ALICE)).toBe(`for-files-of-${ALICE}`);
    expect(seen).toEqual([
      {
        form: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: ALICE,
          subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          audience: 'files',
          resource: 'https://files.example/',
          scope: 'a b',
        },
        authorization: `Basic ${Buffer.from('layer+one:top%3A+secret%261').toString('base64')}`,
      },
    ]);
  });

  test('a client without a secret names itself in the form', async () => {
    const { read, seen } = await open(undefined, { clientId: 'layer', subjectTokenType: 'jwt' });
    await read(ALICE);
    expect(seen[0]).toMatchObject({
      form: { client_id: 'layer', subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
      authorization: undefined,
    });
  });

  test('secrets without a profile come from the store, beside exchanged ones', async () => {
    const { secrets, seen } = await open();
    expect(await secrets.read('t1', ['plain'])).toEqual(new Map([['plain', 'value']]));
    expect(seen).toEqual([]);
    const both = await secrets.read('t1', ['plain', 'files'], { token: ALICE });
    expect(Object.fromEntries(both)).toEqual({ plain: 'value', files: `for-files-of-${ALICE}` });
  });
});

describe('what is remembered', () => {
  test('PRM-11 a token is remembered for its caller in its tenant, and for nobody else', async () => {
    const { read, seen } = await open();
    const of = [await read(ALICE), await read(BOB), await read(ALICE), await read(ALICE, 't2')];
    expect(of).toEqual([ALICE, BOB, ALICE, ALICE].map((token) => `for-files-of-${token}`));
    expect(seen.map(({ form }) => form['subject_token'])).toEqual([ALICE, BOB, ALICE]);
  });

  test('calls at once wait for one exchange', async () => {
    const { read, seen } = await open(() => ({ delayMs: 20 }));
    expect(new Set(await Promise.all([1, 2, 3].map(() => read(ALICE)))).size).toBe(1);
    expect(seen).toHaveLength(1);
  });

  test('a token is asked for again 10 s before it ends, and after 300 s at the latest', async () => {
    let lifetime = 60;
    const { read, seen, pass } = await open(({ form }) => ({ body: tokenBody(form, lifetime) }));
    await read(ALICE);
    pass(49_999);
    await read(ALICE);
    expect(seen).toHaveLength(1);
    lifetime = 86_400;
    pass(1);
    await read(ALICE);
    expect(seen).toHaveLength(2);
    pass(299_999);
    await read(ALICE);
    expect(seen).toHaveLength(2);
    pass(1);
    await read(ALICE);
    expect(seen).toHaveLength(3);
  });

  test('a failure is not remembered', async () => {
    let status = 503;
    const { read } = await open(() => ({ status }));
    await expect(read(ALICE)).rejects.toMatchObject({ code: 'E3304' });
    status = 200;
    expect(await read(ALICE)).toBe(`for-files-of-${ALICE}`);
  });

  test('one caller who gives up does not end it for the others', async () => {
    const { secrets, read } = await open(() => ({ delayMs: 50 }));
    const controller = new AbortController();
    const given = secrets.read('t1', ['files'], { token: ALICE, signal: controller.signal });
    const other = read(ALICE);
    controller.abort(new Error('cancelled'));
    await expect(given).rejects.toThrow('cancelled');
    expect(await other).toBe(`for-files-of-${ALICE}`);
  });
});

describe('nothing is sent or used that should not be', () => {
  test.each([undefined, '', 'sk_live_of_the_layer', 'a.b', 'a.b.c.d', 'a.b.c\n'])(
    'no token of a caller: %j',
    async (token) => {
      const { read, seen } = await open();
      await expect(read(token)).rejects.toMatchObject({ code: 'E3302' });
      expect(seen).toEqual([]);
    },
  );

  test.each<[string, StandInAnswer, string]>([
    ['refused', { status: 400, body: '{"error":"invalid_target","error_description":"aaaa.alice.sig"}' }, 'E3307'],
    ['refused without a reason', { status: 401, body: '' }, 'E3307'],
    ['a redirect', { status: 302 }, 'E3310'],
    ['no JSON', { body: 'access_token=x' }, 'E3308'],
    ['no object', { body: '[]' }, 'E3308'],
    ['null', { body: 'null' }, 'E3308'],
    ['no token', { body: '{"token_type":"Bearer"}' }, 'E3308'],
    ['an empty token', { body: '{"access_token":"","token_type":"Bearer"}' }, 'E3308'],
    ['a token of another kind', { body: '{"access_token":"x","token_type":"DPoP"}' }, 'E3308'],
    ['a token of no kind', { body: '{"access_token":"x"}' }, 'E3308'],
    ['a flood', { body: `{"access_token":"${'x'.repeat(70_000)}","token_type":"Bearer"}` }, 'E3308'],
  ])('%s is an error that shows no token', async (_name, answer, code) => {
    const { read } = await open(() => answer);
    const thrown = await read(ALICE).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code });
    expect(String(thrown)).not.toContain('alice');
  });

  test('a server that is not there', async () => {
    const { read } = await open(undefined, { endpoint: 'http://127.0.0.1:1/token' });
    await expect(read(ALICE)).rejects.toMatchObject({ code: 'E3310' });
  });
});

describe('the file of exchanges', () => {
  const file = (content: string): string => {
    const folder = mkdtempSync(join(tmpdir(), 'exchanges-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'exchanges.toml'), content);
    return join(folder, 'exchanges.toml');
  };

  test('has one table for each credential', async () => {
    const text =
      '[files]\nendpoint = "https://id.example/token"\nclient_id = "c"\nclient_secret = "idp"\nscope = "a"\n[mail]\nendpoint = "http://localhost:9/t"\naudience = "m"\n';
    expect(await readExchangeProfiles(file(text))).toEqual([
      { name: 'files', endpoint: 'https://id.example/token', clientId: 'c', clientSecret: 'idp', scope: 'a' },
      { name: 'mail', endpoint: 'http://localhost:9/t', audience: 'm' },
    ]);
  });

  test.each([
    ['no TOML', 'x = ='],
    ['an unknown key', '[a]\nendpoint = "https://a.example"\nsecret = "x"'],
    ['no endpoint', '[a]\naudience = "x"'],
    ['an endpoint in the open', '[a]\nendpoint = "http://a.example/token"'],
    ['an endpoint with a password', '[a]\nendpoint = "https://u:p@a.example/token"'],
    ['an endpoint that is none', '[a]\nendpoint = "token"'],
    ['a secret of nobody', '[a]\nendpoint = "https://a.example"\nclient_secret = "x"'],
    ['a value that is no table', 'a = 1'],
  ])('%s is refused with the name of the file', async (_name, text) => {
    await expect(readExchangeProfiles(file(text))).rejects.toMatchObject({
      code: 'E3801',
      message: expect.stringContaining('exchanges.toml'),
    });
  });

  test('a file that is not there is refused', async () => {
    await expect(readExchangeProfiles('/nowhere/exchanges.toml')).rejects.toMatchObject({ code: 'E3801' });
  });
});
