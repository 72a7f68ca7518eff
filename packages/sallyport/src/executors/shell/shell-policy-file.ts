import { type StatWatcher, unwatchFile, watchFile } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandPolicy } from '@sallyport/guards';
import { KiB } from '@sallyport/std/bytes';
import { failureOf, ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { Type } from 'typebox';
import { type FileFault, fileFault, parseTomlAs } from '../../domain/settings/toml-file.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ShellPolicy } from './shell-policy.ts';

const Commands = Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 1000 });
const PolicyFile = Type.Object(
  {
    mode: Type.Optional(Type.Enum(['blocklist', 'allowlist'])),
    blocked: Type.Optional(Commands),
    allowed: Type.Optional(Commands),
    asked: Type.Optional(Commands),
  },
  { additionalProperties: false },
);

/** Largest size of the file, in bytes. */
const FILE_BYTES_MAX = 256 * KiB;
/** Poll interval, in ms. */
const POLL_MS = 500;
/**
 * Age from which it counts as completely written, in ms: writing in place leaves it empty, and so without its rules,
 * for a moment.
 */
const SETTLED_MS = 100;
/** Looks at which a file that was there must be missing before it counts as removed: editors move it away first. */
const MISSING_LOOKS = 3;
/** Most attempts on a file that keeps changing; then it is read as it is. */
const LOOKS_MAX = 20;

/** Inputs of a policy file that an operator changes while the layer runs. */
export interface ShellPolicyFileParts {
  /** TOML with any of `mode`, `blocked`, `allowed` and `asked`; it may be absent. */
  readonly file: string;
  /** Values for members missing in the file. */
  readonly settings: CommandPolicy;
  readonly policy: ShellPolicy;
  readonly log: Log;
  /** Default 500. */
  readonly pollMs?: number;
  /** Default: the file system. */
  readonly disk?: Disk;
}

interface Disk {
  stat(path: string): Promise<Look>;
  readFile(path: string, encoding: 'utf8'): Promise<string>;
}

/**
 * Applies the policy of a file, and each later version of it within about a second, without a restart (EXE-02). A
 * faulty version is rejected: the log says why, and the previous one stays in force. Without the file, or after its
 * removal, the settings apply. Does not keep the process alive.
 * @throws ToolLayerError E3801 when the file is faulty at the start: a layer does not start with unreadable rules
 */
export async function followShellPolicy(parts: ShellPolicyFileParts): Promise<AsyncDisposable> {
  const { file, policy, log, pollMs = POLL_MS } = parts;
  policy.replace(await readPolicy(parts, 1));
  const closing = new AbortController();
  let reading: Promise<void> = Promise.resolve();
  const take = async (): Promise<void> => {
    if (closing.signal.aborted) return;
    try {
      policy.replace(await readPolicy(parts, MISSING_LOOKS));
      log.info('shell-policy-in-force', { file });
    } catch (thrown) {
      log.error('shell-policy-not-in-force', { file, reason: failureOf(thrown).message });
    }
  };
  const changed = (): void => {
    reading = reading.then(take);
  };
  const watcher: StatWatcher = watchFile(file, { interval: pollMs, persistent: false, bigint: true }, changed);
  watcher.unref();
  // Picks up changes between the first reading and the first poll of the watcher.
  changed();
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      unwatchFile(file, changed);
      await reading;
    },
  };
}

async function readPolicy(
  { file, settings, disk = { stat, readFile } }: ShellPolicyFileParts,
  missingLooks: number,
): Promise<CommandPolicy> {
  const inFile = fileFault('file of shell rules', file);
  const fault: FileFault = (what, cause) => inFile(`${what}. Mend or remove it`, cause);
  const text = await settledText(disk, file, missingLooks, fault);
  return text === undefined ? settings : { ...settings, ...parseTomlAs(text, PolicyFile, fault) };
}

/** Undefined when the file does not exist, at that many looks in a row. */
async function settledText(
  disk: Disk,
  file: string,
  missingLooks: number,
  fault: FileFault,
): Promise<string | undefined> {
  let missing = 0;
  for (let look = 1; ; look += 1) {
    try {
      const before = await lookAt(disk, file, fault);
      missing = 0;
      if (look >= LOOKS_MAX || Math.abs(Date.now() - before.mtimeMs) >= SETTLED_MS) {
        const text = await disk.readFile(file, 'utf8');
        // One that is emptied at this moment, to be written anew, has none of its rules.
        if (look >= LOOKS_MAX || isSame(before, await lookAt(disk, file, fault))) return text;
      }
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw cause instanceof ToolLayerError ? cause : fault('cannot be read', cause);
      }
      missing += 1;
      if (missing >= missingLooks) return undefined;
    }
    await sleep(SETTLED_MS);
  }
}

interface Look {
  readonly size: number;
  readonly ino: number;
  readonly mtimeMs: number;
}

async function lookAt(disk: Disk, file: string, fault: FileFault): Promise<Look> {
  const { size, ino, mtimeMs } = await disk.stat(file);
  if (size > FILE_BYTES_MAX) throw fault(`has more than ${FILE_BYTES_MAX} bytes`);
  return { size, ino, mtimeMs };
}

const isSame = (one: Look, other: Look): boolean =>
  one.size === other.size && one.ino === other.ino && one.mtimeMs === other.mtimeMs;
