import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { deltaChannelHistoryTests, specTest } from '@langchain/langgraph-checkpoint-validation';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { createToolLayer, type EmbeddedToolLayer, silentLog } from '../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { run } from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';
import { SallyportSaver } from '../../packages/sallyport/src/doors/langgraph/sallyport-saver.ts';

let folder: string;
let layer: EmbeddedToolLayer;
beforeAll(async () => {
  folder = await temporaryDataFolder('sallyport-langgraph-');
  layer = await createToolLayer({
    settings: { data_folder: folder, 'search.embedder': 'none' },
    log: silentLog,
    environment: {},
  });
});
afterAll(async () => {
  await layer.close();
  await rm(folder, { recursive: true, force: true });
});

let agents = 0;
/** A saver of an agent that has no threads yet. */
async function saverOf(agent = `did:example:agent-${(agents += 1)}`, user?: string): Promise<SallyportSaver> {
  const { capability_token: token } = await layer.mintToken({
    agent_did: agent,
    ...(user === undefined ? {} : { user_did: user }),
  });
  return new SallyportSaver({ layer, token });
}

// The suite takes its runner from there; this file has a process of its own.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test });
const SUITE = { checkpointerName: 'STA-07 SallyportSaver', createCheckpointer: () => saverOf() };
specTest(SUITE);
deltaChannelHistoryTests(SUITE);
