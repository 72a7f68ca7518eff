import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '@sallyport/std/error-code';
import type { Log } from '../../telemetry/log.ts';
import { LAYER_ROLE, passwordOf, restrictAccess } from './embedded/access.ts';
import { locateBinaries } from './embedded/binaries.ts';
import { ensureCluster } from './embedded/cluster.ts';
import { claimFolder, inUse } from './embedded/holder.ts';
import { isAlive, isServerOf } from './embedded/processes.ts';
import { chooseUser } from './embedded/run-as.ts';
import {
  DATABASE,
  type ServerCommand,
  type ServerProcess,
  ServerStillEnding,
  startServer,
  stopOrphan,
} from './embedded/server-process.ts';
import { serverArguments } from './embedded/server-settings.ts';
import { openSocketFolder, SOCKET_PORT, socketFolderOf } from './embedded/socket-folder.ts';
import { folderError } from './embedded/start-problem.ts';
import { supervise } from './embedded/supervisor.ts';
import type { SocketConnection } from './postgres-connection.ts';

export { socketFolderOf };

/** Default limit of a start, with recovery after a crash, ms. */
const START_TIMEOUT_MS = 60_000;
/** Longest wait until the processes of an earlier server are gone, ms. */
const EARLIER_SERVER_MS = 10_000;
const EARLIER_SERVER_POLL_MS = 50;

/** A PostgreSQL server that lives at most as long as this process. */
export interface EmbeddedPostgres extends AsyncDisposable {
  readonly connection: SocketConnection;
  /** Process id of the server; undefined while it is being restarted. */
  pid(): number | undefined;
  /** Stops the server cleanly, waits until its processes are gone and releases the data folder. Idempotent. */
  close(): Promise<void>;
}

/** Options of the embedded server. */
export interface EmbeddedPostgresOptions {
  /** Created when absent. The cluster is in its subfolder `postgres`. */
  readonly dataFolder: string;
  readonly log: Log;
  /** `<process.platform>-<process.arch>` of the binaries; default: this machine's. */
  readonly platform?: string;
  /** Called when only other processes are left to wait for, so that this one can do other work. */
  readonly onWaiting?: () => void;
}

/**
 * Starts the real PostgreSQL of the npm package on a socket in the data folder, and creates the cluster on first start
 * (about one second; 0.15 s later). After a crash of the layer or of the server it cleans up and recovers; a server
 * that ends by itself is restarted.
 * @throws ToolLayerError E3812 with `details.problem`: platform-unsupported, folder-in-use (with `details.pid`),
 *   folder-unusable, other-major-version, disk-full, no-unprivileged-user, server-failed
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, platform = `${process.platform}-${process.arch}`, onWaiting = () => undefined } = options;
  const binaries = await locateBinaries(platform);
  const dataFolder = await makeFolder(options.dataFolder);
  const clusterFolder = join(dataFolder, 'postgres');

  await using opened = new AsyncDisposableStack();
  opened.defer(await claimFolder(dataFolder));
  const runAs = await chooseUser(clusterFolder, binaries.postgres);
  await ensureCluster(clusterFolder, binaries, runAs, onWaiting);
  const socket = await openSocketFolder(dataFolder, runAs.uid);
  opened.defer(socket.remove);
  const password = await passwordOf(dataFolder);
  const { postgres } = binaries;
  const args = serverArguments(clusterFolder, socket.path);
  const start = () =>
    startAlone(
      { postgres, args, clusterFolder, runAs, startTimeoutMs: START_TIMEOUT_MS, log, pidFileIsVoid: false, onWaiting },
      password,
    );
  const server = supervise(await start(), start, log);
  opened.defer(server.stop);

  const open = opened.move();
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= open.disposeAsync();
    return closing;
  };
  const connection = {
    socketFolder: socket.path,
    port: SOCKET_PORT,
    user: LAYER_ROLE,
    password,
    database: DATABASE,
  };
  return { connection, pid: server.pid, close, [Symbol.asyncDispose]: close };
}

/**
 * Claims a data folder for a layer whose server is elsewhere: a second layer on it would have the same name, and settle
 * the calls that the first one runs as those of a crash.
 * @returns releases the folder
 * @throws ToolLayerError E3812 with `details.problem`: folder-in-use, folder-unusable, disk-full
 */
export const claimDataFolder = (folder: string): Promise<() => Promise<void>> => claimFolder(folder);

async function makeFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    await makeFolders(path);
    return await realpath(path);
  } catch (cause) {
    throw folderError(path, cause);
  }
}

/** Node's own `recursive` never ends when a parent exists but accepts no folders, as below /proc. */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || (await stat(parent).catch(() => undefined)) !== undefined) throw error;
    await makeFolders(parent);
    await mkdir(path, { mode: 0o700 });
  }
}

/** Starts the server once no earlier one is left. The folder is claimed, so an earlier server's layer is gone. */
async function startAlone(command: ServerCommand, password: string): Promise<ServerProcess> {
  const { clusterFolder, log } = command;
  const pid = await pidInFile(clusterFolder);
  const isServer = pid !== undefined && (await isServerOf(pid, clusterFolder));
  if (pid !== undefined && isServer) {
    log.warn('postgres-orphan-stopping', { pid });
    if (!(await stopOrphan(pid))) throw inUse(clusterFolder, pid);
  }
  const pidFileIsVoid = pid !== undefined && !isServer && (await isAlive(pid));
  const deadline = performance.now() + EARLIER_SERVER_MS;
  for (;;) {
    try {
      await restrictAccess({ ...command, pidFileIsVoid }, password);
      return await startServer({ ...command, pidFileIsVoid });
    } catch (error) {
      if (!(error instanceof ServerStillEnding)) throw error;
      if (performance.now() > deadline) throw inUse(clusterFolder, await pidInFile(clusterFolder));
      await sleep(EARLIER_SERVER_POLL_MS);
    }
  }
}

/** Process id of the folder's last server, which may be long gone. */
async function pidInFile(clusterFolder: string): Promise<number | undefined> {
  const text = await readFile(join(clusterFolder, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}
