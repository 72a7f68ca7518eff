import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { VERSION } from '../src/compose/version.ts';

const BIN = fileURLToPath(new URL('sallyport.mjs', import.meta.url));
/** Code that is loaded before the program and makes Node report another version. */
const pretending = (node: string): string =>
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${node}'}})`;

function run(node: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const args = ['--import', pretending(node), BIN, '--version'];
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

test('an old Node is refused in one sentence that says what to do', async () => {
  expect(await run('23.11.1')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'Sallyport needs Node.js 24 or newer, and this is 23.11.1: npm ci brings one, which npm start then finds.\n',
  });
});

test('Node 24 runs the command line', async () => {
  expect(await run('24.0.0')).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
});
