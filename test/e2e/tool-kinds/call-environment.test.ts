import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { DOUBLE, double, type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const { works, problem } = await createBubblewrapDriver().probe();
let open: OpenLayer;
let approver: string;

const SHOW: ToolManifest = {
  tool_id: 'show',
  tool_name: 'Show',
  version: '1.0.0',
  description: 'Shows two variables.',
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object', additionalProperties: false },
  execution_config: { call_variables: ['PROJECT'] },
  executor: {
    kind: 'shell',
    config: { command: ['/usr/bin/env'], environment: { PROJECT: 'none', REGION: 'eu' }, output: 'text' },
  },
};

beforeAll(async () => {
  open = await openLayer();
  await open.layer.ask('tools.register', { manifest: SHOW }, LOCAL_CALLER);
  await open.layer.ask(
    'tools.register',
    { manifest: { ...SHOW, tool_id: 'show_asked', requires_confirmation: true } },
    LOCAL_CALLER,
  );
  await open.layer.registerFunction(DOUBLE, double);
  approver = (await open.layer.mintToken({ roles: ['approver'], agent_did: 'did:example:boss' })).capability_token;
});
afterAll(() => open[Symbol.asyncDispose]());

const invoke = (tool_id: string, execution_options: object, parameters = {}) =>
  post(open, '/v1/invocations', JSON.stringify({ tool_id, parameters, execution_options }));

describe.skipIf(!works)(`variables of a call${works ? '' : `, skipped: ${problem}`}`, () => {
  test('EXE-10.1 over REST reach the tool that names them, for that call alone', async () => {
    const set = await invoke('show', { environment: { PROJECT: 'apollo' } });
    expect(set.body).toMatchObject({ status: 'success', result: expect.stringContaining('PROJECT=apollo') });
    expect((await invoke('show', {})).body).toMatchObject({ result: expect.stringContaining('PROJECT=none') });
  });

  test('EXE-10 that wait for a person are shown to that person, and run as they were shown', async () => {
    const { body } = await invoke('show_asked', { environment: { PROJECT: 'gemini' } });
    const { approval_id } = body['approval'] as { approval_id: string };
    const asApprover = { door: 'rest', token: approver } as const;
    const shown = await open.layer.ask('approvals.get', { approval_id }, asApprover);
    expect(shown).toMatchObject({ environment: { PROJECT: 'gemini' } });
    await open.layer.ask('approvals.approve', { approval_id }, asApprover);
    const ended = { invocation_id: String(body['invocation_id']) };
    const caller = { door: 'rest', token: open.token } as const;
    await expect
      .poll(() => open.layer.ask('invocations.get', ended, caller), { timeout: 20_000 })
      .toMatchObject({ status: 'success', result: expect.stringContaining('PROJECT=gemini') });
  });

  test('EXE-10 PIPE-10 belong to the call: it is verified with them and not without', async () => {
    const { body } = await invoke('show', { environment: { PROJECT: 'apollo' } });
    const asked = { invocation_id: String(body['invocation_id']), parameters: {} };
    const caller = { door: 'rest', token: open.token } as const;
    const same = await open.layer.ask('invocations.verify', { ...asked, environment: { PROJECT: 'apollo' } }, caller);
    expect(same).toMatchObject({ same: true });
    await expect(open.layer.ask('invocations.verify', asked, caller)).rejects.toMatchObject({ code: 'E3801' });
  });
});

test.each([
  'PATH',
  'LD_PRELOAD',
  'BASH_ENV',
  'HOME',
  'HTTPS_PROXY',
  'GITHUB_TOKEN',
  'REGION',
  'project',
  'SALLYPORT_X',
])('EXE-10 no caller sets %s, over no door and in no dry run', async (name) => {
  const environment = { [name]: 'the value' };
  const refused = await invoke('show', { environment });
  expect(refused).toMatchObject({ status: 400, body: { error: { e_code: 'E3801' } } });
  expect(JSON.stringify(refused.body)).not.toContain('the value');
  const request = { tool_id: 'show', parameters: {}, execution_options: { environment } };
  const dry = await open.layer.ask('tools.dry-run', request, { door: 'rest', token: open.token });
  expect(dry).toMatchObject({ would: 'refuse', error: { e_code: 'E3801' } });
});

test('EXE-10 what is no variable does not pass the door, and a function takes none', async () => {
  for (const environment of [{ 'a-b': 'x' }, { A: 1 }, { A: 'a\0b' }, ['A'], 'A=B'])
    expect(await invoke('show', { environment })).toMatchObject({ status: 400 });
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`V${index}`, 'x']));
  expect(await invoke('show', { environment: many })).toMatchObject({ status: 400 });
  const plain = await invoke('double', { environment: { PROJECT: 'x' } }, { n: 1 });
  expect(plain.body).toMatchObject({ error: { e_code: 'E3801', message: expect.stringContaining('no environment') } });
});

test('EXE-10 a manifest that gives such a variable away is not registered', async () => {
  const manifest = { ...SHOW, tool_id: 'open', execution_config: { call_variables: ['LD_PRELOAD'] } };
  await expect(open.layer.ask('tools.register', { manifest }, LOCAL_CALLER)).rejects.toMatchObject({
    code: 'E3008',
    failure: { details: { faults: [{ path: '/execution_config/call_variables/0' }] } },
  });
});

test('PRM-06.1 EXE-10.2 a call may be content with less trust than its token says, never get more', async () => {
  const write = { ...DOUBLE, tool_id: 'write', side_effect_policy: 'irreversible' as const };
  await open.layer.registerFunction(write, double);
  const ended = async (trust_level: string) => (await invoke('write', { trust_level }, { n: 2 })).body;
  expect(await ended('trusted')).toMatchObject({ status: 'success' });
  expect(await ended('provisional')).toMatchObject({ status: 'pending_approval', approval: { reason: 'trust' } });
  const { capability_token } = await open.layer.mintToken({ trust_level: 'untrusted' });
  const request = { tool_id: 'write', parameters: { n: 2 }, capability_token };
  const raised = await open.layer.invoke({ ...request, execution_options: { trust_level: 'trusted' } });
  expect(raised).toMatchObject({ status: 'pending_approval', approval: { reason: 'trust' } });
  expect(await invoke('write', { trust_level: 'root' }, { n: 2 })).toMatchObject({ status: 400 });
});
