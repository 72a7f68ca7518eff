import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import type { SandboxLimits } from '../../driver.port.ts';
import { readText } from './group-folder.ts';

/** `TMPFS_MAGIC` of linux/magic.h. */
const TMPFS = 0x0102_1994;
const HEXADECIMAL = 16;

/**
 * Memory in MiB that a sandbox holds outside of its processes: files of its scratch space, and what its sockets have in their
 * queues. A socket of the family unix does not report it, so each counts as full.
 * @param first host pid of the first process of the sandbox, which has a network namespace of its own
 */
export function heldElsewhereMb(first: number, { diskMb }: Pick<SandboxLimits, 'diskMb'>): number {
  return (scratchBytes(first, diskMb) + socketBytes(first)) / MiB;
}

/** Zero until the sandbox has its scratch space: the folder of that name is the host's before. */
function scratchBytes(first: number, diskMb: number): number {
  try {
    const { type, blocks, bfree, bsize } = statfsSync(join('/proc', `${first}`, 'root', 'tmp'));
    const isOurs = type === TMPFS && blocks * bsize === Math.max(1, diskMb) * MiB;
    return isOurs ? (blocks - bfree) * bsize : 0;
  } catch {
    return 0;
  }
}

/** `/proc/PID/net/unix` lists also those sockets that no process has open, since they are under way in a message. */
function socketBytes(first: number): number {
  const queued = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((name) => linesOf(first, name)).map(queuedBytes);
  return queued.reduce((total, bytes) => total + bytes, linesOf(first, 'unix').length * socketBufferBytes());
}

function linesOf(first: number, name: string): readonly string[] {
  return readText(`/proc/${first}/net/${name}`).split('\n').slice(1).filter(Boolean);
}

/** The fifth column is `tx_queue:rx_queue`, in hexadecimal (proc_net_tcp.txt of the kernel). */
function queuedBytes(line: string): number {
  const [sent = '', received = ''] = line.trim().split(/\s+/)[4]?.split(':') ?? [];
  return (Number.parseInt(sent, HEXADECIMAL) || 0) + (Number.parseInt(received, HEXADECIMAL) || 0);
}

let bufferBytes: number | undefined;

/** What a socket may have in its queue whose program cannot ask for more (`UNCOUNTED_RULES` of the filter). */
function socketBufferBytes(): number {
  bufferBytes ??= Number(readFileSync('/proc/sys/net/core/wmem_default', 'utf8'));
  return bufferBytes;
}
