import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Pool, Submittable } from 'pg';
import { expect, test } from 'vitest';
import { createStatementSender } from './statement-sender.ts';

const WRITE = { name: 'write', text: 'insert' };

type Sent = Submittable & { handleError(error: Error): void; handleReadyForQuery(): void };

/** A connection that answers when the test says so. */
class ScriptedClient extends EventEmitter {
  readonly prepared: string[] = [];
  /** The parameter of each statement that was sent. */
  readonly sent: string[] = [];
  /** For each time that it was given back, whether it was broken. */
  readonly released: boolean[] = [];
  #running: Sent | undefined;
  readonly #idle: ScriptedClient[];
  isWritable = true;

  constructor(idle: ScriptedClient[]) {
    super();
    this.#idle = idle;
  }

  query(statement: Sent): void {
    if (this.released.at(-1) === true) {
      process.nextTick(() => statement.handleError(new Error('no longer connected')));
      return;
    }
    // The client itself would queue it, which its next version refuses.
    expect(this.#running).toBeUndefined();
    this.#running = statement;
    const write = (message: Buffer) => this.sent.push(/\d+(?=\0\0E)/.exec(message.toString('latin1'))?.[0] ?? '');
    const stream = { cork: () => undefined, uncork: () => undefined, writable: this.isWritable, write };
    const parse = ({ name }: { readonly name: string }) => this.prepared.push(name);
    statement.submit({ stream, parse } as never);
  }

  /** Ends the running statement. */
  async answer(error?: Error): Promise<void> {
    const ended = this.#running;
    this.#running = undefined;
    if (error === undefined) ended?.handleReadyForQuery();
    else ended?.handleError(error);
    await turn();
  }

  release(isBroken: boolean): void {
    this.released.push(isBroken);
    if (!isBroken) this.#idle.push(this);
  }
}

function opened(max = 4) {
  const idle: ScriptedClient[] = [];
  const clients: ScriptedClient[] = [];
  const make = (): ScriptedClient => {
    clients.push(new ScriptedClient(idle));
    return clients.at(-1) as ScriptedClient;
  };
  const pool = { options: { max }, waitingCount: 0, connect: async () => idle.shift() ?? make() };
  const sender = createStatementSender(pool as unknown as Pool);
  const client = (at: number) => clients[at] as ScriptedClient;
  /** Sends statements, each with its lane, and gives what becomes of them. */
  const send = async (...given: (readonly [value: string, lane?: string])[]) => {
    const ends = given.map(([value, lane]) => sender.send(WRITE, [value], lane).then(() => 'written', String));
    await turn();
    return ends;
  };
  return { pool, clients, client, sender, send };
}

test('AUD-02 statements of one lane run on one connection in their order, and others beside them', async () => {
  const { clients, client, send } = opened();
  const ends = await send(['1', 'a'], ['2', 'a'], ['3', 'b'], ['4']);
  expect(clients.map(({ sent }) => sent)).toEqual([['1'], ['3'], ['4']]);
  await client(0).answer();
  const [later] = await send(['5', 'a']);
  expect(client(0).sent).toEqual(['1', '2']);
  await client(0).answer();
  await client(0).answer();
  for (const at of [1, 2]) await client(at).answer();
  expect(await Promise.all([...ends, later])).toEqual(Array(5).fill('written'));
  expect(clients.map(({ sent }) => sent)).toEqual([['1', '2', '5'], ['3'], ['4']]);
  expect(clients.map(({ released }) => released)).toEqual([[], [false], [false]]);
});

test('one connection is kept for the next statement, and each prepares a statement once', async () => {
  const { clients, client, send } = opened();
  await send(['1', 'a'], ['2', 'b']);
  for (const each of clients) await each.answer();
  await send(['3', 'a'], ['4', 'b']);
  expect(clients.map(({ sent, prepared }) => [sent, prepared])).toEqual([
    [['1', '3'], ['write']],
    [['2', '4'], ['write']],
  ]);
  await client(1).answer();
  expect(client(1).released).toEqual([false]);
  await client(0).answer();
  expect([client(0).released, client(0).listenerCount('error')]).toEqual([[false], 0]);
});

test('the only connection is given back, and so is one that somebody waits for', async () => {
  for (const [max, waiting] of [
    [1, 0],
    [2, 1],
  ] as const) {
    const { pool, client, send } = opened(max);
    pool.waitingCount = waiting;
    const [end] = await send(['1', 'a']);
    await client(0).answer();
    expect([await end, client(0).released]).toEqual(['written', [false]]);
  }
});

test('AUD-02 a connection on which a statement failed is closed once, later statements on it fail too, and others do not', async () => {
  const { clients, client, send } = opened();
  const ends = await send(['1', 'a'], ['2', 'a']);
  await client(0).answer(new Error('refused'));
  expect(client(0).released).toEqual([true]);
  const [again] = await send(['3', 'a']);
  const [last] = await send(['4', 'a']);
  await client(1).answer();
  await client(1).answer();
  expect(await Promise.all([...ends, again, last])).toEqual([
    'Error: refused',
    'Error: no longer connected',
    'written',
    'written',
  ]);
  expect(clients.map(({ sent, released }) => [sent, released])).toEqual([
    [['1'], [true]],
    [['3', '4'], []],
  ]);
});

test('a lost connection is not used again, and nothing is written to one that ended', async () => {
  const { clients, client, send } = opened();
  await send(['1', 'a']);
  client(0).emit('error', new Error('lost'));
  expect(client(0).released).toEqual([]);
  await client(0).answer();
  client(0).emit('error', new Error('lost'));
  expect([client(0).released, client(0).listenerCount('error')]).toEqual([[true], 0]);
  const [end] = await send(['2', 'a']);
  await client(1).answer();
  client(1).isWritable = false;
  const [lost] = await send(['3', 'a']);
  await client(1).answer(new Error('ended'));
  expect([await end, await lost, clients.map(({ sent }) => sent)]).toEqual(['written', 'Error: ended', [['1'], ['2']]]);
});

test('AUD-02 a statement without a connection fails, and its lane begins anew', async () => {
  const { pool, clients, client, sender, send } = opened();
  const { connect } = pool;
  pool.connect = () => Promise.reject(new Error('none free'));
  const [refused] = await send(['1', 'a']);
  expect(await refused).toBe('Error: none free');
  pool.connect = connect;
  const [end] = await send(['2', 'a']);
  let isClosed = false;
  const closing = sender.close().then(() => {
    isClosed = true;
  });
  const [late] = await send(['3', 'b']);
  expect(isClosed).toBe(false);
  await client(0).answer();
  await closing;
  expect([await end, client(0).released]).toEqual(['written', [false]]);
  await client(1).answer();
  expect([await late, clients.length, client(1).released]).toEqual(['written', 2, [false]]);
});
