import { expect, test } from 'vitest';
import { createEnvironmentSecretStore, variableOf } from './environment-secret-store.ts';

const environment: Record<string, string> = {
  SALLYPORT_SECRET_PETSTORE_API_KEY: 'hush',
  SALLYPORT_SECRET_EMPTY: '',
  OTHER: 'not a secret of ours',
};
const store = createEnvironmentSecretStore(environment);

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
