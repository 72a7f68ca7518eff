import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '../../../telemetry/log.ts';
import type { SocketConnection } from '../postgres-connection.ts';
import { locateBinaries } from './binaries.ts';
import { SUPERUSER } from './cluster.ts';
import { prepareCluster } from './prepared-database.fixture.ts';
import { hasEnded } from './processes.ts';
import { chooseUser, letThrough } from './run-as.ts';
import { DATABASE, type ServerProcess, ServerStillEnding, startServer } from './server-process.ts';
import { serverArguments } from './server-settings.ts';
import { openSocketFolder, SOCKET_PORT } from './socket-folder.ts';

/** A PostgreSQL server that only the test restarts, with a superuser who needs no password. */
export interface DatabaseServer {
  readonly connection: SocketConnection;
  start(): Promise<void>;
  /** Sends SIGKILL to the postmaster; its child processes end by themselves. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 30_000;
const RETRY_MS = 20;

/**
 * Creates a cluster in an existing folder.
 * @param settings of the server, besides those of an embedded one
 */
export async function createDatabaseServer(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<DatabaseServer> {
  const clusterFolder = `${folder}/cluster`;
  const binaries = await locateBinaries(`${process.platform}-${process.arch}`);
  await prepareCluster(clusterFolder);
  const runAs = await chooseUser(clusterFolder, binaries.postgres);
  await letThrough(runAs, folder);
  await writeFile(`${clusterFolder}/pg_hba.conf`, 'local all all trust\n');
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
    connection: { socketFolder: socket.path, port: SOCKET_PORT, user: SUPERUSER, database: DATABASE },
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
