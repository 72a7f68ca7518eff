import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExaminedProgram } from '../../../linux/holes/open-holes.ts';
import { DESCRIPTOR_HOLE, LINK_HOLE, SET_UID_HOLES } from './known-holes.ts';

const TIMEOUT_MS = 5000;
const S_ISUID = 0o4000;

/** A bubblewrap's version, and the result of trying its holes. */
export async function examineProgram(program: string): Promise<ExaminedProgram> {
  const [version, options, makesBeyond] = await Promise.all([
    said(program, ['--version']),
    said(program, ['--help']),
    followsLinks(program),
  ]);
  const isSetUid = (statSync(program).mode & S_ISUID) !== 0;
  return {
    name: 'bubblewrap',
    version: /\d+(?:\.\d+)+/.exec(version)?.[0],
    isOpen: {
      ...(isSetUid ? {} : Object.fromEntries(SET_UID_HOLES.map(({ id }) => [id, false]))),
      [DESCRIPTOR_HOLE.id]: options === '' ? undefined : !options.includes('--bind-fd '),
      [LINK_HOLE.id]: makesBeyond,
    },
    install:
      'Update bubblewrap: apt-get install bubblewrap, or a newer release from https://github.com/containers/bubblewrap',
  };
}

async function said(program: string, command: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(program, command, { env: {}, cwd: '/', timeout: TIMEOUT_MS })).stdout;
  } catch {
    return '';
  }
}

/**
 * True when it creates a host folder through a link, as in CVE-2026-87766. Both folders are made for the trial, and
 * nothing is started in the sandbox. @returns undefined when the trial fails earlier
 */
async function followsLinks(program: string): Promise<boolean | undefined> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'sallyport-trial-'));
  const [shown, beyond] = [join(folder, 'shown'), join(folder, 'beyond')];
  try {
    for (const made of [shown, beyond]) mkdirSync(made);
    symlinkSync(`/oldroot${beyond}`, join(shown, 'link'));
    const made = ['--dir', '/shown/plain', '--dir', '/shown/link/made'];
    await said(program, ['--unshare-user', '--bind', shown, '/shown', ...made, '--', '/nothing']);
    if (existsSync(join(beyond, 'made'))) return true;
    return existsSync(join(shown, 'plain')) ? false : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
