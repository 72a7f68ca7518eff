import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';

const program = (name: string): string =>
  fileURLToPath(new URL(`../../packages/sallyport/bin/${name}.mjs`, import.meta.url));

/** Runs npm start; resolves with its output once all of it has been printed. */
async function started(): Promise<{ said: string; stop(): Promise<number | null> }> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-starter-'));
  const child = spawn(process.execPath, [program('starter'), '--port', '0', '--data-folder', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: folder },
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const stop = (): Promise<number | null> => {
    child.kill('SIGTERM');
    return exited;
  };
  onTestFinished(async () => {
    await stop();
    await rm(folder, { recursive: true });
  });
  let said = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    said += chunk;
    if (said.includes('Ctrl-C')) break;
  }
  return { said, stop };
}

test('what npm start prints works when it is pasted, and a signal ends it cleanly', async () => {
  const { said, stop } = await started();
  expect(said).not.toContain('Left out');

  const [, url = '', token = '', body = ''] =
    /curl -s (\S+) -H 'authorization: Bearer (\S+)'.* -d '([^']+)'/.exec(said) ?? [];
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body });
  expect(await answer.json()).toMatchObject({ status: 'success', result: { sum: 5 } });
  const health = await fetch(new URL('/healthz', url));
  expect([health.status, await health.json()]).toMatchObject([200, { ready: true }]);

  const [, line = ''] = /npx sallyport (connect claude-code .*)/.exec(said) ?? [];
  const words = line.replaceAll('"', '').replace('--write', '--http --json').split(' ');
  const { stdout } = await promisify(execFile)(process.execPath, [program('sallyport'), ...words]);
  const { mcpServers } = JSON.parse(stdout).config;
  const client = new Client({ name: 'pasted', version: '1.0.0' });
  const requestInit = { headers: mcpServers.sallyport.headers };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpServers.sallyport.url), { requestInit }));
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })).content;
  expect(await call('count-words', { text: 'one two three' })).toEqual([
    { type: 'text', text: expect.stringContaining('3') },
  ]);
  expect(await call('everything__echo', { message: 'hello' })).toEqual([{ type: 'text', text: 'Echo: hello' }]);
  expect(JSON.stringify(await call('weather__getWeather', { city: 'Ghent' }))).toContain('celsius');
  await client.close();
  expect(await stop()).toBe(0);
}, 120_000);
