import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { deltaChannelHistoryTests, specTest } from '@langchain/langgraph-checkpoint-validation';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { SallyportSaver } from '../../packages/sallyport/src/doors/toolbox/langgraph/sallyport-saver.ts';
import { createToolLayer, type EmbeddedToolLayer, silentLog } from '../../packages/sallyport/src/index.ts';
import { temporaryDataFolder } from '../../packages/sallyport/src/storage/postgres/embedded/prepared-database.fixture.ts';
import { run } from '../../packages/sallyport/src/storage/postgres/postgres-databases.fixture.ts';

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
async function saverOf(named?: string, user?: string): Promise<SallyportSaver> {
  agents += 1;
  const agent = named ?? `did:example:agent-${agents}`;
  const { capability_token: token } = await layer.mintToken({
    agent_did: agent,
    ...(user === undefined ? {} : { user_did: user }),
  });
  return new SallyportSaver({ layer, token });
}

// The suite takes its runner from there; this file has a process of its own.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test });
/** The public validation suite. */
function check(checkpointerName: string): void {
  const suite = { checkpointerName, createCheckpointer: () => saverOf() };
  specTest(suite);
  deltaChannelHistoryTests(suite);
}
check('STA-07.1 SallyportSaver');

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const State = Annotation.Root({
  steps: Annotation<string[]>({ reducer: (before, after) => [...before, ...after], default: () => [] }),
});
const config = { configurable: { thread_id: 'work' } };

/** A graph of three steps; each notes that it ran, and the second one fails as often as `failures` says. */
function graphOver(checkpointer: SallyportSaver, ran: string[], failures = 0) {
  let left = failures;
  const step = (name: string) => async () => {
    ran.push(name);
    if (name === 'two' && left > 0) {
      left -= 1;
      throw new Error('The power failed.');
    }
    return { steps: [name] };
  };
  return new StateGraph(State)
    .addNode('one', step('one'))
    .addNode('two', step('two'))
    .addNode('three', step('three'))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', 'three')
    .addEdge('three', END)
    .compile({ checkpointer });
}

describe('graphs of LangGraph', () => {
  test('STA-07 a graph that failed continues with another saver, and repeats no step that was done', async () => {
    const ran: string[] = [];
    const agent = 'did:example:continues';
    await expect(graphOver(await saverOf(agent), ran, 1).invoke({ steps: [] }, config)).rejects.toThrow('power');
    const ended = await graphOver(await saverOf(agent), ran).invoke(null, config);
    expect(ended.steps).toEqual(['one', 'two', 'three']);
    expect(ran).toEqual(['one', 'two', 'two', 'three']);
  });

  test('STA-07 a thread that is removed while its graph runs stays removed, and no state without its values takes its place', async () => {
    const saver = await saverOf();
    const Both = Annotation.Root({ customer: Annotation<string>(), steps: State.spec.steps });
    const graph = new StateGraph(Both)
      .addNode('one', async () => ({ steps: ['one'] }))
      .addNode('two', async () => {
        await saver.deleteThread('work');
        return { steps: ['two'] };
      })
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', END)
      .compile({ checkpointer: saver });
    const running = graph.invoke({ customer: 'ann', steps: [] }, { ...config, durability: 'sync' });
    await expect(running).rejects.toMatchObject({ code: 'E3702' });
    expect(await all(saver.list(config))).toEqual([]);
  });

  test('STA-07 two branches of one thread keep their own values', async () => {
    const graph = graphOver(await saverOf(), []);
    await graph.invoke({ steps: [] }, config);
    const history = await all(graph.getStateHistory(config));
    const start = history.find(({ next }) => next[0] === 'three');
    const branches = [];
    for (const steps of [['left'], ['right']])
      branches.push(await graph.updateState(start?.config ?? config, { steps }));
    const read = await Promise.all(branches.map((branch) => graph.getState(branch)));
    expect(read.map(({ values }) => values.steps)).toEqual([
      ['one', 'two', 'left'],
      ['one', 'two', 'right'],
    ]);
  });

  test('STA-07 threads belong to agent and user: nobody else reads, changes or removes them', async () => {
    const owner = await saverOf('did:example:owner', 'did:example:anna');
    await graphOver(owner, []).invoke({ steps: [] }, config);
    const others = [
      await saverOf('did:example:owner', 'did:example:ben'),
      await saverOf('did:example:owner'),
      await saverOf('did:example:other', 'did:example:anna'),
    ];
    for (const other of others) {
      expect(await other.getTuple(config)).toBeUndefined();
      expect(await all(other.list({}))).toEqual([]);
      await other.deleteThread('work');
    }
    expect((await owner.getTuple(config))?.checkpoint.channel_values['steps']).toEqual(['one', 'two', 'three']);
  });

  test('STA-07 without a valid token nothing is read or saved', async () => {
    const nobody = new SallyportSaver({ layer, token: 'a.b.c' });
    await expect(nobody.getTuple(config)).rejects.toMatchObject({ code: 'E3201' });
    await expect(graphOver(nobody, []).invoke({ steps: [] }, config)).rejects.toMatchObject({ code: 'E3201' });
  });

  test('STA-03.4 STA-07 a large value is an object, stored once however many states have it, and removed with its thread', async () => {
    const agent = 'did:example:large';
    const text = randomBytes(MiB).toString('base64');
    await graphOver(await saverOf(agent), []).invoke({ steps: [text] }, config);
    const [{ objects } = { objects: 0 }] = await objectsInUse();
    const saver = await saverOf(agent);
    expect((await saver.getTuple(config))?.checkpoint.channel_values['steps']).toEqual([text, 'one', 'two', 'three']);
    await saver.deleteThread('work');
    const [{ objects: left } = { objects: -1 }] = await objectsInUse();
    expect(objects - left).toBeGreaterThanOrEqual(4);
    expect(await saver.getTuple(config)).toBeUndefined();
  });

  test('STA-07 a damaged value is an error, not another value', async () => {
    const saver = await saverOf('did:example:damaged');
    await graphOver(saver, []).invoke({ steps: [] }, config);
    await run(database(), `update sallyport.thread_values set value = '\\x5b5d' where owner like '%damaged%'`);
    await expect(saver.getTuple(config)).rejects.toMatchObject({ code: 'E3703' });
  });
});

const database = () => {
  if (layer.embeddedDatabase === undefined) throw new Error('The layer has no database of its own.');
  return layer.embeddedDatabase;
};
const objectsInUse = async () =>
  (await run(
    database(),
    'select count(*)::int as objects from sallyport.state_objects where remove_after is null',
  )) as readonly { objects: number }[];
