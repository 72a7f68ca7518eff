/** One entry of an archive. */
export interface ArchiveEntry {
  /** Absolute path inside the guest; folders come before what lies in them. */
  readonly path: string;
  /** Kind and permissions, as in `stat`. */
  readonly mode: number;
  /** Content of a file, or where a link leads. */
  readonly content?: Uint8Array;
}

export const FOLDER = 0o040_000;
export const FILE = 0o100_000;
export const LINK = 0o120_000;

const ALIGNMENT = 4;
const END = 'TRAILER!!!';

/**
 * Archive in the format that Linux unpacks as its first root file system ("newc": Documentation/driver-api/early-userspace).
 * Everything belongs to root and has no date, so that equal entries give equal bytes.
 */
export function cpioArchive(entries: readonly ArchiveEntry[]): Buffer {
  const parts = entries.flatMap((entry, index) => record(entry.path.slice(1), entry, index + 1));
  return Buffer.concat([...parts, ...record(END, { path: '', mode: 0 }, 0)]);
}

function record(name: string, { mode, content = new Uint8Array() }: ArchiveEntry, inode: number): Uint8Array[] {
  const links = (mode & FOLDER) === FOLDER ? 2 : 1;
  const nameBytes = Buffer.from(`${name}\0`);
  // inode, mode, uid, gid, links, date, size, four device numbers, length of the name, check sum
  const fields = [inode, mode, 0, 0, links, 0, content.length, 0, 0, 0, 0, nameBytes.length, 0];
  const head = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`;
  return [Buffer.from(head), nameBytes, padding(head.length + nameBytes.length), content, padding(content.length)];
}

function padding(length: number): Uint8Array {
  return new Uint8Array((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);
}
