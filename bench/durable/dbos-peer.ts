import { mkdir } from 'node:fs/promises';
import { createDatabaseServer } from '../../packages/sallyport/src/storage/postgres/embedded/database-server.fixture.ts';
import { ensurePeers } from '../peers/installed.ts';

const PACKAGE = '@dbos-inc/dbos-sdk';
const NAME = 'DBOS, one-step workflow';

/** A workflow of one step, awaited to its end. */
export interface DbosPeer extends AsyncDisposable {
  /** As reports name it; with the reason in brackets while it cannot be measured. */
  readonly name: string;
  /** Undefined when the package is not there. */
  readonly run?: (number: number) => Promise<void>;
}

/** The little of the package that is used here; its own types are there only when the peers are installed. */
interface DbosPackage {
  readonly DBOS: {
    setConfig(config: {
      readonly name: string;
      readonly systemDatabaseUrl: string;
      readonly systemDatabasePoolSize: number;
      readonly logLevel: string;
    }): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    runStep<Result>(step: () => Promise<Result>, options: { readonly name: string }): Promise<Result>;
    registerWorkflow<Given extends unknown[], Result>(
      workflow: (...given: Given) => Promise<Result>,
      options: { readonly name: string },
    ): (...given: Given) => Promise<Result>;
  };
}

/** As many connections as the layer's pool has. */
const POOL_SIZE = 16;

/**
 * DBOS on a PostgreSQL of its own with the same settings as the layer's. Its configuration is one for the whole process,
 * so there is one at a time.
 */
export async function dbosPeer(dataFolder: string, report: (line: string) => void): Promise<DbosPeer> {
  await ensurePeers(report);
  const found = await load();
  if (found === undefined) return { name: `${NAME} (not installed)`, [Symbol.asyncDispose]: async () => undefined };
  const { DBOS } = found;
  await using opened = new AsyncDisposableStack();
  await mkdir(dataFolder, { recursive: true });
  const server = opened.adopt(await createDatabaseServer(dataFolder), ({ stop }) => stop());
  await server.start();
  const { socketFolder, port, user } = server.connection;
  DBOS.setConfig({
    name: 'sallyport-bench',
    systemDatabaseUrl: `postgresql://${user}@localhost/dbos?host=${encodeURIComponent(socketFolder)}&port=${port}`,
    systemDatabasePoolSize: POOL_SIZE,
    logLevel: 'error',
  });
  const add = DBOS.registerWorkflow(
    async (a: number, b: number) => await DBOS.runStep(async () => ({ sum: a + b }), { name: 'add' }),
    { name: 'bench-add' },
  );
  await DBOS.launch();
  opened.defer(() => DBOS.shutdown());
  const held = opened.move();
  return {
    name: NAME,
    async run(number) {
      const { sum } = await add(number, 1);
      if (sum !== number + 1) throw new Error(`the workflow answered ${sum}`);
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function load(): Promise<DbosPackage | undefined> {
  try {
    return (await import(PACKAGE)) as DbosPackage;
  } catch {
    return undefined;
  }
}
