import { afterAll, beforeAll, expect, test } from 'vitest';
import { DOUBLE, double, type OpenLayer, openLayer } from '../layer.fixture.ts';

let open: OpenLayer;
beforeAll(async () => {
  const environment = {
    SALLYPORT_SECRET_OWN: 'of-the-default-tenant',
    SALLYPORT_SECRET_COMMON: 'for-everybody',
    SALLYPORT_SECRET__acme__OWN: 'of-acme',
  };
  open = await openLayer({ 'secrets.shared': ['common'] }, environment);
});
afterAll(() => open[Symbol.asyncDispose]());

/** Registers a tool that needs the secret in every tenant. Returns the outcome of a call of the tool in each tenant. */
async function outcomes(secret: string): Promise<readonly string[]> {
  const manifest = { ...DOUBLE, tool_id: `needs-${secret}`, permissions: { credentials: [secret] } };
  await open.layer.registerFunction(manifest, double);
  const found: string[] = [];
  for (const tenant_id of ['default', 'acme', 'globex']) {
    const roles = ['agent', 'operator'] as const;
    const { capability_token } = await open.layer.mintToken({ tenant_id, secrets: ['*', secret], roles: [...roles] });
    const caller = { door: 'rest', token: capability_token } as const;
    if (tenant_id !== 'default') await open.layer.ask('tools.register', { manifest }, caller);
    const answer = await open.layer.invoke({ tool_id: manifest.tool_id, parameters: { n: 1 } }, caller);
    found.push(`${tenant_id} ${answer.error?.e_code ?? answer.status}`);
  }
  return found;
}

test('PRM-10 a secret of the environment is that of its tenant, unless the operator shares it', async () => {
  expect(await outcomes('own')).toEqual(['default success', 'acme success', 'globex E3302']);
  expect(await outcomes('common')).toEqual(['default success', 'acme success', 'globex success']);
  expect(await outcomes('acme__own')).toEqual(['default E3302', 'acme E3302', 'globex E3302']);
});
