import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLayer } from '../../../../packages/sallyport/src/compose/open-layer.ts';
import type { OpenedLayer } from '../../../../packages/sallyport/src/doors/cli/cli-parts.ts';
import type { ToolManifest } from '../../../../packages/sallyport/src/manifest.ts';
import { temporaryDataFolder } from '../../../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { MAIN } from '../../running/sallyport-program.fixture.ts';

/** The payments that the bank was asked for. */
const paid: unknown[] = [];
let bank: Server;
let folder: string;
let layer: ChildProcess;
let url: string;
beforeAll(async () => {
  bank = createServer((request, response) => {
    paid.push(request.url);
    if (request.url?.endsWith('n=9')) layer.kill('SIGKILL');
    else response.setHeader('content-type', 'application/json').end('{"paid":true}');
  });
  await new Promise<void>((done) => bank.listen(0, '127.0.0.1', done));
  folder = await temporaryDataFolder('sallyport-killed-');
  layer = await start();
});
afterAll(async () => {
  await end('SIGTERM');
  bank.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** Starts `sallyport serve` as its own process; resolves once the process is ready. */
async function start(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--data-folder', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      SALLYPORT_LOG_LEVEL: 'silent',
      SALLYPORT_APPROVALS_SWEEP_SECONDS: '0.2',
      XDG_STATE_HOME: folder,
    },
  });
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    const [, at] = /ready at (\S+)/.exec(String(chunk)) ?? [];
    if (at === undefined) continue;
    url = at;
    return child;
  }
  throw new Error('the layer ended before it was ready');
}

async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const exited = new Promise((resolve) => layer.once('exit', resolve));
  layer.kill(signal);
  await exited;
}

/** A tool that pays at the bank, by default only after an approval. */
function payTool(port: number, more: Partial<ToolManifest> = {}): ToolManifest {
  return {
    tool_id: 'pay',
    tool_name: 'Pay',
    version: '1.0.0',
    description: 'Pays.',
    side_effect_policy: 'irreversible',
    parameters_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    permissions: { network: [{ host: '127.0.0.1', port }] },
    execution_config: { requires_approval: true },
    executor: {
      kind: 'http',
      config: {
        base_url: `http://127.0.0.1:${port}`,
        method: 'POST',
        path: '/payments',
        parameters: [{ property: 'n', name: 'n', in: 'query', style: 'form', explode: true }],
      },
    },
    ...more,
  };
}

test('ORC-03.1 ORC-06.1 a call that waits outlives kill -9, is approved afterwards, and runs once', async () => {
  const { port } = bank.address() as AddressInfo;
  const opened = (): Promise<OpenedLayer> => openLayer({ dataFolder: folder }, { environment: {} });
  const before = await opened();
  await before.layer.ask('tools.register', { manifest: payTool(port) }, before.caller);
  const mint = { agent_did: 'did:agent:a', user_did: 'did:user:u', hosts: ['127.0.0.1'], ports: [port] };
  const { capability_token: token } = await before.layer.ask('tokens.mint', mint, before.caller);
  const call = (n: number) =>
    before.layer.ask('tools.invoke', { tool_id: 'pay', parameters: { n } }, { ...before.caller, token });
  const [yes, no] = [await call(1), await call(2)];
  expect([yes.status, no.status]).toEqual(['pending_approval', 'pending_approval']);
  await end('SIGKILL');

  layer = await start();
  const after = await opened();
  const { approvals } = await after.layer.ask('approvals.list', {}, after.caller);
  expect(approvals.map(({ invocation_id }) => invocation_id)).toEqual([yes.invocation_id, no.invocation_id]);
  const [first, second] = approvals.map(({ approval_id }) => ({ approval_id }));
  await after.layer.ask('approvals.approve', first ?? { approval_id: '' }, after.caller);
  const stateOf = async ({ invocation_id }: typeof yes) =>
    (await after.layer.ask('invocations.get', { invocation_id }, after.caller)).state;
  await expect.poll(() => stateOf(yes)).toBe('COMPLETED');
  expect(paid).toEqual(['/payments?n=1']);

  // The same for a denial, but the layer is killed at once: only its next start can carry out the decision.
  await after.layer.ask('approvals.deny', second ?? { approval_id: '' }, after.caller);
  await end('SIGKILL');
  layer = await start();
  const last = await opened();
  const status = await last.layer.ask('invocations.get', { invocation_id: no.invocation_id }, last.caller);
  expect(status).toMatchObject({ state: 'DENIED', error: { e_code: 'E3807' } });
  expect(await last.layer.ask('audit.verify', {}, last.caller)).toMatchObject({ whole: true });
  expect(paid).toEqual(['/payments?n=1']);
}, 120_000);

test('AUD-02.4 AUD-03 PIPE-13.1 PIPE-13.3 a call that kill -9 cuts off at its first moment has its beginning and its end in the audit', async () => {
  const { port } = bank.address() as AddressInfo;
  const opened = (): Promise<OpenedLayer> => openLayer({ dataFolder: folder }, { environment: {} });
  const before = await opened();
  const tool = payTool(port, { tool_id: 'pay-now', tool_name: 'Pay now', execution_config: {} });
  await before.layer.ask('tools.register', { manifest: tool }, before.caller);
  const mint = { agent_did: 'did:agent:a', user_did: 'did:user:u', hosts: ['127.0.0.1'], ports: [port] };
  const { capability_token: token } = await before.layer.ask('tokens.mint', mint, before.caller);
  const invocation_id = 'cut-off-at-once';
  const cut = fetch(`${url}/v1/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ tool_id: 'pay-now', parameters: { n: 9 }, invocation_id }),
  });
  await expect(cut).rejects.toThrow();

  layer = await start();
  const after = await opened();
  const status = await after.layer.ask('invocations.get', { invocation_id }, after.caller);
  expect(status).toMatchObject({ state: 'ABORTED', error: { e_code: 'E3804' } });
  const { events } = await after.layer.ask('audit.query', { invocation_id }, after.caller);
  const states = events.map(({ data }) => (data as Record<string, unknown>)['state']).filter(Boolean);
  expect(states).toEqual(['DECLARED', 'VALIDATED', 'AUTHORIZED', 'EXECUTING', 'ABORTED']);
  expect(await after.layer.ask('audit.verify', {}, after.caller)).toMatchObject({ whole: true });
  expect(paid.filter((each) => each === '/payments?n=9')).toHaveLength(1);
}, 120_000);
