import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ArchiveEntry, cpioArchive, FILE, FOLDER, LINK } from './cpio.ts';
import { AGENT_PROGRAM, GUEST_FILES, INIT_PROGRAM, WARDEN_PROGRAM } from './guest-programs.ts';
import { reseedProgram } from './reseed-program.ts';

/** Modules of the kernel, in the order in which they need each other: serial ports over PCI, and vsock over MMIO. */
const MODULES = [
  'drivers/virtio/virtio_ring.ko',
  'drivers/virtio/virtio.ko',
  'drivers/virtio/virtio_pci_modern_dev.ko',
  'drivers/virtio/virtio_pci_legacy_dev.ko',
  'drivers/virtio/virtio_pci.ko',
  'drivers/virtio/virtio_mmio.ko',
  'drivers/char/virtio_console.ko',
  'net/vmw_vsock/vsock.ko',
  'net/vmw_vsock/vmw_vsock_virtio_transport_common.ko',
  'net/vmw_vsock/vmw_vsock_virtio_transport.ko',
];

const FOLDERS = ['/agent', '/bin', '/dev', '/etc', '/groups', '/modules', '/proc', '/run', '/scratch', '/tmp', '/usr'];
const OTHER_NAMES_OF_BIN = ['/sbin', '/usr/bin', '/usr/sbin'];

/**
 * The guest's whole file system: busybox, the agent, and a few modules.
 * @param unpacked folder with the contents of both packages
 * @param applets names under which busybox is called
 */
export function initialRoot(unpacked: string, applets: readonly string[]): Buffer {
  const modules = moduleFolder(unpacked);
  const entries: ArchiveEntry[] = [
    ...FOLDERS.map((path) => ({ path, mode: FOLDER | (path === '/agent' || path === '/modules' ? 0o700 : 0o755) })),
    ...OTHER_NAMES_OF_BIN.map((path) => link(path, '/bin')),
    { path: '/bin/busybox', mode: FILE | 0o755, content: readFileSync(join(unpacked, 'bin/busybox')) },
    ...applets.filter((name) => name !== 'busybox').map((name) => link(`/bin/${name}`, 'busybox')),
    program('/init', INIT_PROGRAM),
    program('/agent/agent', AGENT_PROGRAM),
    program('/agent/warden', WARDEN_PROGRAM),
    program('/agent/reseed', reseedProgram()),
    ...Object.entries(GUEST_FILES).map(([path, text]) => ({ path, mode: FILE | 0o644, content: Buffer.from(text) })),
    ...MODULES.map((path) => ({
      path: `/modules/${fileName(path)}`,
      mode: FILE | 0o600,
      content: readFileSync(join(modules, path)),
    })),
    { path: '/modules/order', mode: FILE | 0o600, content: Buffer.from(`${MODULES.map(fileName).join('\n')}\n`) },
  ];
  return cpioArchive(entries);
}

function moduleFolder(unpacked: string): string {
  const parent = join(unpacked, 'lib/modules');
  const [version] = readdirSync(parent);
  if (version === undefined) throw new Error('The kernel package holds no modules.');
  return join(parent, version, 'kernel');
}

function link(path: string, target: string): ArchiveEntry {
  return { path, mode: LINK | 0o777, content: Buffer.from(target) };
}

function program(path: string, content: string | Uint8Array): ArchiveEntry {
  return { path, mode: FILE | 0o755, content: Buffer.from(content) };
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
