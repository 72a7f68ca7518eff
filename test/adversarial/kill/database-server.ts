import { setTimeout as sleep } from 'node:timers/promises';
import { locateBinaries } from '../../../src/storage/postgres/embedded/binaries.ts';
import { ensureCluster, SERVER_USER } from '../../../src/storage/postgres/embedded/cluster.ts';
import { hasEnded } from '../../../src/storage/postgres/embedded/processes.ts';
import { chooseUser } from '../../../src/storage/postgres/embedded/run-as.ts';
import {
  type ServerProcess,
  ServerStillEnding,
  startServer,
} from '../../../src/storage/postgres/embedded/server-process.ts';
import { serverArguments } from '../../../src/storage/postgres/embedded/server-settings.ts';
import { openSocketFolder, SOCKET_PORT } from '../../../src/storage/postgres/embedded/socket-folder.ts';
import type { SocketConnection } from '../../../src/storage/postgres/postgres-connection.ts';
import { silentLog } from '../../../src/telemetry/log.ts';

/** A PostgreSQL of its own that nobody starts again but the test. */
export interface DatabaseServer {
  readonly connection: SocketConnection;
  start(): Promise<void>;
  /** SIGKILL to the postmaster; its children end by themselves. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 30_000;
const RETRY_MS = 20;

/**
 * Makes a cluster in a folder that is there.
 * @param settings of the server, beside those of an embedded one
 */
export async function createDatabaseServer(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<DatabaseServer> {
  const clusterFolder = `${folder}/cluster`;
  const binaries = await locateBinaries(`${process.platform}-${process.arch}`);
  const runAs = await chooseUser(clusterFolder, binaries.postgres);
  await ensureCluster(clusterFolder, binaries, runAs, () => undefined);
  const socket = await openSocketFolder(folder, runAs.uid);
  const more = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = {
    postgres: binaries.postgres,
    args: [...serverArguments(clusterFolder, socket.path), ...more],
    clusterFolder,
    runAs,
    startTimeoutMs: START_MS,
    log: silentLog,
    pidFileIsVoid: false,
    onWaiting: () => undefined,
  };
  let running: ServerProcess | undefined;
  const start = async (): Promise<void> => {
    const deadline = performance.now() + START_MS;
    while (running === undefined) {
      try {
        running = await startServer(command);
      } catch (thrown) {
        if (!(thrown instanceof ServerStillEnding) || performance.now() > deadline) throw thrown;
        await sleep(RETRY_MS);
      }
    }
  };
  return {
    connection: { socketFolder: socket.path, port: SOCKET_PORT, user: SERVER_USER, database: 'postgres' },
    start,
    async kill() {
      if (running === undefined) return;
      const { pid, ended } = running;
      running = undefined;
      process.kill(pid, 'SIGKILL');
      await ended;
      await hasEnded(pid, START_MS);
    },
    async stop() {
      await running?.stop();
      running = undefined;
      await socket.remove();
    },
  };
}
