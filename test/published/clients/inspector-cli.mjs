import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drive, headers, named, target } from './drive.mjs';

const PROGRAM = new URL(
  '../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  import.meta.url,
);
const { url, command, args, env } = target;
// The inspector keeps files in the user's home.
const home = await mkdtemp(join(tmpdir(), 'inspector-'));

/** One run of the inspector, which asks for one thing and ends. */
function ask(method, ...more) {
  const variables = Object.entries(env ?? {}).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const where =
    url === undefined
      ? ['--transport', 'stdio', ...variables]
      : ['--transport', 'http', '--server-url', url, '--header', `Authorization: ${headers.Authorization}`];
  const program = url === undefined ? [command, ...args] : [];
  const argv = [
    PROGRAM.pathname,
    '--cli',
    ...program,
    ...where,
    '-q',
    '--connect-timeout',
    '60000',
    '--method',
    method,
    ...more,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { env: { ...process.env, HOME: home } });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('error', reject);
    child.on('close', () => {
      try {
        resolve(JSON.parse(out));
      } catch {
        reject(new Error(err || out));
      }
    });
  });
}
const call = (tool) => ask('tools/call', '--tool-name', named(tool));

// Each run starts a process; they are begun together and then looked at in turn.
const listed = ask('tools/list');
const begun = [listed, call('report'), call('fail'), call('media'), ask('resources/list'), ask('prompts/list')];
await Promise.allSettled(begun);
await rm(home, { recursive: true, force: true });
const [, structured, error, media, resources, prompts] = begun;
await drive({
  connects: () => listed,
  tool: async () => (await listed).tools.find(({ name }) => name === named('report')),
  structured: () => structured,
  error: () => error,
  media: () => media,
  resources: () => resources,
  prompts: () => prompts,
});
