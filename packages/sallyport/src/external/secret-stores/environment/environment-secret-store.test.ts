import { expect, test } from 'vitest';
import { createEnvironmentSecretStore, variableOf } from './environment-secret-store.ts';

const environment: Record<string, string> = {
  SALLYPORT_SECRET_PETSTORE_API_KEY: 'hush',
  SALLYPORT_SECRET_PRIVATE_KEY: 'of the default tenant alone',
  SALLYPORT_SECRET__other__PETSTORE_API_KEY: 'of the other',
  SALLYPORT_SECRET__a_X2D_b__KEY: 'of a-b',
  SALLYPORT_SECRET_EMPTY: '',
  OTHER: 'not a secret of ours',
};
const options = { defaultTenant: 'acme', shared: ['petstoreApiKey'] };
const store = createEnvironmentSecretStore(environment, options);

test.each([
  ['petstore_api_key', 'SALLYPORT_SECRET_PETSTORE_API_KEY'],
  ['PETSTORE_API_KEY', 'SALLYPORT_SECRET_PETSTORE_API_KEY'],
  ['petstore.apiKey', 'SALLYPORT_SECRET_PETSTORE_API_KEY'],
  ['-pet store/api-key-', 'SALLYPORT_SECRET_PET_STORE_API_KEY'],
])('the secret %s is in the variable %s', (name, variable) => expect(variableOf(name)).toBe(variable));

test('values are answered under the names that were asked for', async () => {
  expect(await store.read('acme', ['petstore_api_key'])).toEqual(new Map([['petstore_api_key', 'hush']]));
  expect(await store.read('acme', [])).toEqual(new Map());
});

test('every missing secret is named with the variable to set, and no value is', async () => {
  const refused = await store.read('acme', ['petstore_api_key', 'empty', 'OTHER']).catch((thrown) => thrown);
  expect(refused.code).toBe('E3302');
  expect(refused.failure.details).toEqual({
    missing: ['empty', 'OTHER'],
    variables: ['SALLYPORT_SECRET_EMPTY', 'SALLYPORT_SECRET_OTHER'],
  });
  expect(JSON.stringify(refused.failure)).not.toContain('hush');
});

test('the environment is read once', async () => {
  environment['SALLYPORT_SECRET_LATER'] = 'x';
  await expect(store.read('acme', ['later'])).rejects.toMatchObject({ code: 'E3302' });
});

test('PRM-10 a secret is of one tenant: the default one, or the one that its variable names', async () => {
  const key = ['petstore_api_key'];
  expect((await store.read('other', key)).get('petstore_api_key')).toBe('of the other');
  expect((await store.read('third', key)).get('petstore_api_key')).toBe('hush');
  const closed = createEnvironmentSecretStore(environment, { defaultTenant: 'acme', shared: [] });
  const refused = await closed.read('third', key).catch((thrown) => thrown);
  expect(refused).toMatchObject({
    code: 'E3302',
    failure: { details: { variables: ['SALLYPORT_SECRET__third__PETSTORE_API_KEY'] } },
  });
  for (const [tenant, name] of [
    ['acme', 'other__petstore_api_key'],
    ['acme', '_other__petstore_api_key'],
    ['Other', 'petstore_api_key'],
    ['other', 'private_key'],
    ['a_b', 'key'],
    ['a_X2D_b', 'key'],
    ['', 'other__petstore_api_key'],
    ['other__petstore', 'api_key'],
  ] as const)
    await expect(closed.read(tenant, [name]), `${tenant} ${name}`).rejects.toMatchObject({ code: 'E3302' });
  expect((await closed.read('a-b', ['key'])).get('key')).toBe('of a-b');
});

test('all of the default tenant are shared where the setting says so, and none of another', async () => {
  const open = createEnvironmentSecretStore(environment, { defaultTenant: 'acme', shared: ['*'] });
  expect((await open.read('third', ['private_key'])).get('private_key')).toBe('of the default tenant alone');
  await expect(open.read('third', ['other__petstore_api_key'])).rejects.toMatchObject({ code: 'E3302' });
  await expect(open.read('acme', ['key'])).rejects.toMatchObject({ code: 'E3302' });
});

test('no two tenants have one variable', () => {
  const names = [
    'a',
    'a_',
    '_a',
    'a__',
    'a-',
    'a-_',
    'a_-',
    'A',
    'a-B',
    'a˛',
    'a.b',
    'a b',
    'é',
    '🙂',
    '-',
    '_',
    'a_X2D_',
  ];
  const variables = names.flatMap((tenant) => ['key', 'b_key', ''].flatMap((name) => variableOf(name, tenant) ?? []));
  expect(new Set(variables).size).toBe(variables.length);
  expect(variables).toHaveLength((names.length - 1) * 3);
});
