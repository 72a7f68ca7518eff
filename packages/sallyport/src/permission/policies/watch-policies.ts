import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is watched, and the delays. */
export interface WatchOptions {
  readonly folder: string;
  /**
   * Called when something in the folder may have changed. Never called while an earlier call is under way; must not
   * reject.
   */
  readonly changed: () => Promise<void>;
  /** Quiet time before a change is reported, in ms; an editor writes a file in several steps. */
  readonly quietMs?: number;
  /** Poll interval for folders whose changes are not notified (writes of other machines, some mounts), in ms. */
  readonly pollMs?: number;
}

const QUIET_MS = 100;
const POLL_MS = 500;
/** Most files whose times are compared; beyond that only names, and the platform's notifications. */
const STATS_MAX = 2000;

/** Watches a folder of policies, by the platform's notifications and by polling. Does not keep the process alive. */
export function watchPolicies(options: WatchOptions): AsyncDisposable {
  const { folder, changed, quietMs = QUIET_MS, pollMs = POLL_MS } = options;
  const closing = new AbortController();
  let notifying: Promise<void> = Promise.resolve();
  let quiet: NodeJS.Timeout | undefined;
  const notice = (): void => {
    clearTimeout(quiet);
    if (closing.signal.aborted) return;
    quiet = setTimeout(() => {
      notifying = notifying.then(() => (closing.signal.aborted ? undefined : changed()));
    }, quietMs);
    quiet.unref();
  };
  const watcher = watcherOf(folder, notice);
  const polling = poll(folder, pollMs, closing.signal, notice);
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      clearTimeout(quiet);
      watcher?.close();
      await Promise.all([notifying, polling]);
    },
  };
}

/** Undefined when the platform cannot watch; polling continues. */
function watcherOf(folder: string, notice: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, notice);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}

async function poll(folder: string, everyMs: number, closed: AbortSignal, notice: () => void): Promise<void> {
  let known = await fingerprint(folder);
  // Reports changes between the first reading of the policies and now.
  notice();
  while (await sleep(everyMs, true, { signal: closed, ref: false }).catch(() => false)) {
    const now = await fingerprint(folder);
    if (now !== known) notice();
    known = now;
  }
}

/** Fingerprint of names, sizes and times; an unreadable folder has a fingerprint of its own. */
async function fingerprint(folder: string): Promise<string> {
  try {
    const names = (await readdir(folder)).sort();
    const stats = await Promise.all(
      names.slice(0, STATS_MAX).map((name) => stat(join(folder, name)).catch(() => null)),
    );
    return JSON.stringify([names, stats.map((one) => (one === null ? null : [one.size, one.mtimeMs, one.ino]))]);
  } catch (cause) {
    return `unreadable: ${(cause as NodeJS.ErrnoException).code ?? 'unknown'}`;
  }
}
