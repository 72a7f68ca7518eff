import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MiB } from '@sallyport/std/bytes';
import { initialRoot } from './initial-root.ts';

/** Where the parts of a prepared image lie. */
export interface PreparedImage {
  readonly kernel: string;
  readonly initrd: string;
}

/** Names of the two files in an image folder. */
export const IMAGE_FILES = { kernel: 'vmlinuz', initrd: 'initrd' } as const;

/** A package that names the newest kernel for virtual machines. */
const KERNEL_PACKAGE = 'linux-image-cloud-amd64';
const BUSYBOX_PACKAGE = 'busybox-static';
const DOWNLOAD_TIMEOUT_MS = 300_000;
const OUTPUT_BYTES_MAX = 16 * MiB;

/**
 * Makes kernel and first root file system of the guest out of two packages of Debian, which are downloaded and unpacked but not
 * installed. Needs apt, dpkg-deb and an x86-64 Debian; no privilege.
 * @param folder is made; both files appear in it only when they are whole
 * @throws Error with the words of apt or dpkg-deb
 */
export async function prepareImage(folder: string): Promise<PreparedImage> {
  mkdirSync(folder, { recursive: true });
  const workFolder = mkdtempSync(join(tmpdir(), 'sallyport-image-'));
  try {
    // apt downloads as a user of its own.
    chmodSync(workFolder, 0o755);
    await download(workFolder);
    const packages = readdirSync(workFolder).filter((name) => name.endsWith('.deb'));
    const unpacked = join(workFolder, 'unpacked');
    for (const name of packages) await run(workFolder, 'dpkg-deb', '-x', join(workFolder, name), unpacked);
    const applets = (await run(workFolder, join(unpacked, 'bin/busybox'), '--list')).split('\n').filter(Boolean);
    const kernel = readFileSync(join(unpacked, 'boot', kernelName(unpacked)));
    return {
      kernel: writeWhole(join(folder, IMAGE_FILES.kernel), kernel),
      initrd: writeWhole(join(folder, IMAGE_FILES.initrd), initialRoot(unpacked, applets)),
    };
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

async function download(folder: string): Promise<void> {
  const depends = await run(folder, 'apt-cache', 'depends', KERNEL_PACKAGE);
  const kernel = /^\s*Depends: (linux-image-\S+)/m.exec(depends)?.[1];
  if (kernel === undefined) throw new Error(`apt knows no package ${KERNEL_PACKAGE}. Type: apt-get update`);
  await run(folder, 'apt-get', 'download', kernel, BUSYBOX_PACKAGE);
}

function kernelName(unpacked: string): string {
  const name = readdirSync(join(unpacked, 'boot')).find((entry) => entry.startsWith('vmlinuz-'));
  if (name === undefined) throw new Error('The kernel package holds no kernel.');
  return name;
}

/** A reader never finds half a file. */
function writeWhole(path: string, content: Uint8Array): string {
  writeFileSync(`${path}.new`, content, { mode: 0o644 });
  renameSync(`${path}.new`, path);
  return path;
}

const execute = promisify(execFile);

async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
  const options = { cwd, env, timeout: DOWNLOAD_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX };
  return (await execute(program, args, options)).stdout;
}
