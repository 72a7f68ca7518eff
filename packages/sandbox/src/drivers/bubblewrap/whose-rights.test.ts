import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { SandboxSpec } from '../../driver.port.ts';
import { createBubblewrapDriver } from './bubblewrap-driver.ts';

const driver = createBubblewrapDriver();
const { works } = await driver.probe();
/** Only a root layer has rights that the sandbox must not have. */
const canTry = works && process.getuid?.() === 0;

const spec = (script: string, more: Partial<SandboxSpec> = {}): SandboxSpec => ({
  label: 'test',
  command: ['/bin/sh', '-c', script],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 16, diskMb: 1 },
  ...more,
});

test.runIf(canTry)('SBX-03 a tool with a writable folder of root is not root outside, and its files are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-rights-'));
  writeFileSync(join(folder, 'old'), 'old', { mode: 0o600 });
  await using running = await driver.start(
    spec(`cd ${folder}; echo new >>old; echo ready; read forever # of-root-${process.pid}`, {
      mounts: [{ path: folder, mode: 'rw' }],
    }),
  );
  await new Promise((resolve) => running.stdout.once('data', resolve));
  const uids = uidsOf(`of-root-${process.pid}`);
  running.kill();
  await running.exited;
  expect(uids.length).toBeGreaterThan(0);
  expect(uids).not.toContain(0);
  expect(readFileSync(join(folder, 'old'), 'utf8')).toBe('oldnew\n');
  expect(statSync(join(folder, 'old')).uid).toBe(0);
  rmSync(folder, { recursive: true });
});

test.runIf(canTry)('SBX-03 a folder in the base system is mounted over it', async () => {
  const folder = mkdtempSync('/usr/local/lib/sandbox-rights-');
  try {
    const mounts = [{ path: folder, mode: 'rw' }] as const;
    const script = 'echo here >file; touch ../beside 2>/dev/null || cat file';
    await using running = await driver.start(spec(script, { mounts, workingDirectory: folder }));
    expect(await text(running.stdout)).toBe('here\n');
    expect(existsSync('/usr/local/lib/beside')).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.runIf(canTry)(
  'SBX-03 where a file system cannot show files under another owner, the tool is their owner, and never root',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-rights-'));
    const program = `
    import { chownSync, mkdirSync } from 'node:fs';
    import { text } from 'node:stream/consumers';
    const { createBubblewrapDriver } = await import(${JSON.stringify(join(import.meta.dirname, 'bubblewrap-driver.ts'))});
    const driver = createBubblewrapDriver();
    const spec = ${JSON.stringify(spec('echo mine >file; stat -c %U:%a file; echo done'))};
    const tell = async (name, uids) => {
      const mounts = uids.map((uid, index) => {
        const path = ${JSON.stringify(folder)} + '/' + name + index;
        mkdirSync(path, { mode: 0o700 });
        chownSync(path, uid, uid);
        return { path, mode: 'rw' };
      });
      try {
        const running = await driver.start({ ...spec, mounts, workingDirectory: mounts[0].path });
        console.log((await text(running.stdout)).trim().replace('\\n', ' '));
      } catch (error) {
        console.log(error.code, error.message.replace(/.*: it /, ''));
      }
    };
    await tell('user', [61111]);
    await tell('root', [0]);
    await tell('two', [61111, 61112]);`;
    // ramfs does not support id-mapped mounts; this mount ends with its namespace.
    const script = `mount -t ramfs ramfs ${folder} && chmod 755 ${folder} && exec "$@"`;
    const child = spawn(
      '/usr/bin/unshare',
      ['--mount', '/bin/sh', '-c', script, 'sh', process.execPath, '--input-type=module', '-e', program],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    expect((await text(child.stdout)).split('\n')).toEqual([
      'sandbox:644 done',
      expect.stringMatching(/^E3105 belongs to root, .*\(chown\)/),
      expect.stringMatching(/^E3105 belongs to another user than /),
      '',
    ]);
    rmSync(folder, { recursive: true });
  },
);

/** Uids on the host of the processes whose command line contains a text. */
function uidsOf(mark: string): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)) return [];
      const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      return uid === undefined ? [] : [Number(uid)];
    } catch {
      return [];
    }
  });
}
