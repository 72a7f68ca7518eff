import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { withCover } from '../inherited-descriptors.ts';

/**
 * A small process beside the layer that outlives it and then ends the noted targets. It is needed for the moments in
 * which bubblewrap's own `--die-with-parent` is not effective yet (ADR 0005).
 */
export interface CrashWatch {
  /**
   * Notes a target that must end with the layer. Once it resolves, the note is effective even when the layer is killed
   * at once.
   * @param instead an earlier note that this one replaces
   * @throws the system's error when no watch can be started
   */
  note(target: CrashTarget, instead?: CrashTarget): Promise<void>;
  /** Withdraws a note, because the target is gone. */
  forget(target: CrashTarget): void;
}

/** A target: one process, identified by its start too, or a process group. */
export type CrashTarget = `${number}:${string}` | `-${number}`;

export function processTarget(pid: number, start: string): CrashTarget {
  return `${pid}:${start}`;
}

export function groupTarget(pid: number): CrashTarget {
  return `-${pid}`;
}

/**
 * Each line notes (`+`) or forgets (`-`) a target. The end of the input is the end of the layer. A process is ended only
 * when it began at the noted time: field 22 of its stat, the 20th after the name.
 */
const SCRIPT = `
trap '' HUP INT TERM
noted=' '
while read -r sign target; do
  case $sign in
    +) case $noted in *" $target "*) ;; *) noted="$noted$target " ;; esac ;;
    -) case $noted in *" $target "*) noted="\${noted%%" $target "*} \${noted#*" $target "}" ;; esac ;;
  esac
done
exec 2>/dev/null
for target in $noted; do
  case $target in
    -*) kill -s KILL -- "$target" ;;
    *)
      pid=\${target%:*}
      read -r stat <"/proc/$pid/stat" || continue
      set -- \${stat##*) }
      [ "\${20}" = "\${target#*:}" ] && kill -s KILL "$pid"
      ;;
  esac
done`;

/**
 * The watch of one driver, started with the first note. A killed one is restarted with the next.
 * @param inherited descriptors that it must not inherit
 */
export function createCrashWatch(inherited: readonly number[]): CrashWatch {
  /** As many as sandboxes run or are being made. */
  const noted = new Set<CrashTarget>();
  let watcher: ChildProcess | undefined;
  const running = (): ChildProcess => {
    if (watcher !== undefined) return watcher;
    const started = startWatcher(inherited);
    const lost = (): void => {
      if (watcher === started) watcher = undefined;
    };
    for (const end of [started, started.stdin]) end?.on('error', lost);
    started.on('exit', lost);
    started.stdin?.write([...noted].map((target) => `+ ${target}\n`).join(''));
    watcher = started;
    return started;
  };
  const send = (lines: string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { stdin } = running();
    if (stdin === null) return Promise.reject(new Error('the crash watch has no input'));
    // Called when the kernel has the lines; from then on they outlive this process.
    stdin.write(lines, (error) => (error ? reject(error) : resolve()));
    return promise;
  };
  return {
    async note(target, instead) {
      const lines = `+ ${target}\n${instead === undefined ? '' : `- ${instead}\n`}`;
      noted.add(target);
      if (instead !== undefined) noted.delete(instead);
      try {
        await send(lines);
      } catch {
        watcher = undefined;
        await send(lines);
      }
    },
    forget(target) {
      // A watch that ended is restarted with the notes still valid then.
      if (noted.delete(target) && watcher !== undefined) watcher.stdin?.write(`- ${target}\n`);
    },
  };
}

function startWatcher(inherited: readonly number[]): ChildProcess {
  const nothing = openSync('/dev/null', 'r');
  try {
    const watcher = spawn('/bin/sh', ['-c', SCRIPT, 'sallyport-crash-watch', `${process.pid}`], {
      cwd: '/',
      env: {},
      // What ends the layer's process group must not end the watch.
      detached: true,
      stdio: withCover(['pipe', 'ignore', 'ignore'], inherited, nothing),
    });
    watcher.unref();
    (watcher.stdin as Socket | null)?.unref();
    return watcher;
  } finally {
    closeSync(nothing);
  }
}
