import { createRedactor } from '@sallyport/guards';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { memoryLedgerStore } from '../../../test/stores/memory-ledger-store.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { openLedger } from '../ledger.ts';
import type { Durability } from '../ledger-store.port.ts';
import type { LedgerEntry } from './ledger-entry.ts';

const draft = (id: string): EventDraft => ({
  id,
  type: 'ai.agent.registry.changed',
  time: 1,
  tenantId: 'acme',
  data: { id },
});
const noted = (id: string, durability: Durability = 'asynchronous'): LedgerEntry => ({
  events: [draft(id)],
  durability,
});
/** An entry that ends the call `c`. */
const ending = (id: string, state: 'COMPLETED' | 'FAILED'): LedgerEntry => ({
  record: { invocationId: 'c', tenantId: 'acme', state, warnings: [] } as unknown as InvocationRecord,
  events: [draft(id)],
  durability: 'synchronous',
});

/** A ledger whose store writes everything; its answers may be lost, and what it holds may be unreadable. */
async function opened(options: { batchMax?: number; log?: Log } = {}) {
  const memory = memoryLedgerStore();
  const now = { isDeaf: false, isUnreachable: false };
  /** What becomes of the next writes; what comes after them is written and answered. */
  const ends: ('failed' | 'lost' | 'answered')[] = [];
  const written: { readonly ids: readonly string[]; readonly durability: Durability }[] = [];
  const committed: string[] = [];
  let heads = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const ledger = await openLedger({
    chainId: 'one',
    log: silentLog,
    ...options,
    onCommitted: (events) => void committed.push(...events.map(({ id }) => id)),
    store: {
      ...memory,
      async append(batch, durability) {
        if (batch.events.some(({ id }) => id === 'slow')) await released;
        if (batch.events.some(({ id }) => id === 'refused')) throw new ToolLayerError('E3802', 'of another call');
        const end = ends.shift();
        if (end === 'failed') throw new Error('the disk is full');
        await memory.append(batch, durability);
        written.push({ ids: batch.events.map(({ id }) => id), durability });
        if (batch.events.some(({ id }) => id === 'held')) await released;
        if (now.isDeaf || end === 'lost') throw new Error('the answer was lost');
      },
      chainHead(chainId) {
        heads += 1;
        return now.isUnreachable ? Promise.reject(new Error('unreachable')) : memory.chainHead(chainId);
      },
    },
  });
  /** Codes of the refusals of entries that are committed at the same time; `written` for the others. */
  const commitAll = async (...entries: LedgerEntry[]) =>
    (await Promise.allSettled(entries.map((entry) => ledger.commit(entry)))).map((end) =>
      end.status === 'rejected' ? end.reason.code : 'written',
    );
  const chain = async () => (await memory.chainEvents('one', 0, 100)).map(({ id }) => id);
  return { memory, now, ends, written, committed, headsRead: () => heads, release, ledger, commitAll, chain };
}

test('AUD-02 an entry whose answer was lost is written all the same, once, and its writer learns that', async () => {
  const { now, commitAll, chain } = await opened();
  now.isDeaf = true;
  expect(await commitAll(noted('a'))).toEqual(['written']);
  expect(await commitAll(noted('b'), noted('c'), noted('d'))).toEqual(['written', 'written', 'written']);
  now.isDeaf = false;
  expect(await commitAll(noted('e'))).toEqual(['written']);
  expect(await chain()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('AUD-02 an entry that is committed again because nobody knew is written once, beside others that are new', async () => {
  const { now, commitAll, chain, release } = await opened();
  now.isDeaf = true;
  now.isUnreachable = true;
  expect(await commitAll(noted('a'), noted('b'))).toEqual(['E3812', 'E3812']);
  now.isDeaf = false;
  now.isUnreachable = false;
  const held = commitAll(noted('held'));
  const others = commitAll(noted('a'), noted('c'));
  release();
  expect(await held).toEqual(['written']);
  expect(await others).toEqual(['written', 'written']);
  expect(await chain()).toEqual(['a', 'held', 'c']);
  now.isDeaf = true;
  now.isUnreachable = true;
  expect(await commitAll(noted('d'))).toEqual(['E3812']);
  now.isDeaf = false;
  now.isUnreachable = false;
  expect(await commitAll(noted('e'), noted('d'), noted('refused'))).toEqual(['written', 'written', 'E3802']);
});

test('AUD-02 a call that a lost write ended has no second end: its own end stands, and another one is refused', async () => {
  const { memory, now, commitAll, chain } = await opened();
  now.isDeaf = true;
  now.isUnreachable = true;
  expect(await commitAll(ending('done', 'COMPLETED'))).toEqual(['E3812']);
  now.isDeaf = false;
  now.isUnreachable = false;
  expect(await commitAll(ending('failed', 'FAILED'), ending('done', 'COMPLETED'), noted('other'))).toEqual([
    'E3812',
    'written',
    'written',
  ]);
  expect(await memory.findInvocation('acme', 'c')).toMatchObject({ state: 'COMPLETED' });
  expect(await chain()).toEqual(['done', 'other']);
});

test('AUD-02 AUD-07 of two ends of a call that are written together the first stands, and the other is refused with its events', async () => {
  const { memory, commitAll, chain, release } = await opened();
  const held = commitAll(noted('held'));
  const ends = commitAll(ending('done', 'COMPLETED'), noted('a'), ending('failed', 'FAILED'), noted('b'));
  release();
  await held;
  expect(await ends).toEqual(['written', 'written', 'E3802', 'written']);
  expect(await memory.findInvocation('acme', 'c')).toMatchObject({ state: 'COMPLETED' });
  expect(await chain()).toEqual(['held', 'done', 'a', 'b']);
});

test('AUD-02 a transaction is as durable as the most demanding of its entries, and no more', async () => {
  const { written, commitAll, release } = await opened();
  const held = commitAll(noted('held'));
  const others = commitAll(noted('a'), noted('b', 'synchronous'), noted('c'));
  release();
  await Promise.all([held, others]);
  await commitAll(noted('d'));
  expect(written).toEqual([
    { ids: ['held'], durability: 'asynchronous' },
    { ids: ['a', 'b', 'c'], durability: 'synchronous' },
    { ids: ['d'], durability: 'asynchronous' },
  ]);
});

test('AUD-02 a ledger that closes writes what it took before', async () => {
  const { ledger, chain, release } = await opened();
  const taken = ['held', 'a', 'b'].map((id) => ledger.commit(noted(id)));
  const closed = ledger.close();
  await expect(ledger.commit(noted('late'))).rejects.toMatchObject({ code: 'E3812' });
  release();
  await closed;
  expect(await chain()).toEqual(['held', 'a', 'b']);
  await Promise.all(taken);
});

test('AUD-02.2 what was written although its answer was lost is handed on once, however often answers are lost', async () => {
  const { now, commitAll, committed, ledger } = await opened();
  now.isDeaf = true;
  for (const id of ['a', 'b']) expect(await commitAll(noted(id))).toEqual(['written']);
  now.isDeaf = false;
  expect(await commitAll(noted('c'))).toEqual(['written']);
  expect(committed).toEqual(['a', 'b', 'c']);
  expect(ledger.head().seq).toBe(3);
});

test('AUD-02 an entry that is refused alone learns why, also while nobody can say what is written', async () => {
  const { now, commitAll, chain } = await opened();
  now.isUnreachable = true;
  expect(await commitAll(noted('refused'))).toEqual(['E3802']);
  now.isUnreachable = false;
  expect(await commitAll(noted('a'), noted('refused'), noted('b'))).toEqual(['written', 'E3802', 'written']);
  expect(await chain()).toEqual(['a', 'b']);
});

test('AUD-02 of a batch that failed each entry is written alone, and is written though only its answer was lost', async () => {
  const { ends, commitAll, chain, release } = await opened();
  const held = commitAll(noted('held'));
  ends.push('failed', 'lost', 'failed', 'answered');
  const others = commitAll(noted('a'), noted('b'), noted('c'));
  release();
  expect(await held).toEqual(['written']);
  expect(await others).toEqual(['written', 'E3812', 'written']);
  expect(await chain()).toEqual(['held', 'a', 'c']);
});

test('AUD-02 an end that follows a lost one of the same call is not written, also when it was sent before that was known', async () => {
  const { memory, ends, commitAll, chain, written } = await opened({ batchMax: 2 });
  ends.push('lost');
  const all = await commitAll(ending('done', 'COMPLETED'), ending('failed', 'FAILED'), noted('other'));
  expect(all).toEqual(['written', 'E3812', 'written']);
  expect(await memory.findInvocation('acme', 'c')).toMatchObject({ state: 'COMPLETED' });
  expect(await chain()).toEqual(['done', 'other']);
  expect(written.map(({ ids }) => ids)).toEqual([['done'], ['other']]);
});

test('AUD-02 the refusal of an entry has its cause, and what cannot be found out is logged', async () => {
  const lines: string[] = [];
  const error = (event: string, fields: object = {}) => void lines.push(`${event} ${JSON.stringify(fields)}`);
  const { now, ends, ledger } = await opened({ log: { ...silentLog, error } });
  ends.push('failed');
  await expect(ledger.commit(noted('a'))).rejects.toMatchObject({
    code: 'E3812',
    message: expect.stringContaining('cannot be written'),
    cause: { message: 'the disk is full' },
  });
  expect(lines).toEqual(['ledger-write-failed {"reason":"Error: the disk is full"}']);
  now.isUnreachable = true;
  ends.push('failed');
  await expect(ledger.commit(noted('b'))).rejects.toMatchObject({ cause: { message: 'the disk is full' } });
  expect(lines.slice(2)).toEqual(['ledger-store-unreachable {"reason":"Error: unreachable"}']);
  await expect(ledger.commit(noted('c'))).rejects.toMatchObject({ cause: { message: 'unreachable' } });
});

test('AUD-02 entries that nobody could look after are refused for what happened to their batch, not for the row of another', async () => {
  const causesOf = async (thrown: unknown) => {
    const memory = memoryLedgerStore();
    let isDown = false;
    const ledger = await openLedger({
      chainId: 'one',
      log: silentLog,
      store: {
        ...memory,
        async append(batch, durability) {
          isDown = batch.events.length === 2;
          if (isDown) throw thrown;
          await memory.append(batch, durability);
        },
        chainHead: (id) => (isDown ? Promise.reject(new Error('unreachable')) : memory.chainHead(id)),
      },
    });
    const ends = await Promise.allSettled(['a', 'b', 'c'].map((id) => ledger.commit(noted(id))));
    return ends.slice(1).map((end) => (end.status === 'rejected' ? end.reason : undefined));
  };
  const full = new Error('the disk is full');
  for (const reason of await causesOf(full)) expect(reason).toMatchObject({ code: 'E3812', cause: full });
  const taken = new ToolLayerError('E3812', 'the position is taken');
  const inDoubt = {
    message: taken.message,
    failure: { code: 'E3812', details: { maybe_written: true } },
    cause: taken,
  };
  for (const reason of await causesOf(taken)) expect(reason).toMatchObject(inDoubt);
  const foreign = new ToolLayerError('E3802', 'of another call');
  for (const reason of await causesOf(foreign))
    expect(reason).toMatchObject({ code: 'E3812', cause: { message: 'another entry was refused', cause: foreign } });
});

test('AUD-02 what is written is asked once nothing is under way any more, also of a batch that was sent after the failed one', async () => {
  const { ends, commitAll, chain, release, headsRead } = await opened({ batchMax: 2 });
  ends.push('failed');
  const all = commitAll(noted('a'), noted('slow'), noted('b'));
  for (let turn = 0; turn < 9; turn += 1) await new Promise(setImmediate);
  expect(headsRead()).toBe(1);
  release();
  expect(await all).toEqual(['E3812', 'written', 'written']);
  expect(await chain()).toEqual(['slow', 'b']);
});

test('AUD-02 a full batch is sent while another is under way, and a smaller one waits', async () => {
  const { written, commitAll, release } = await opened({ batchMax: 2 });
  const ids = () => written.map((each) => each.ids);
  const held = commitAll(noted('held'), noted('a'));
  await new Promise(setImmediate);
  expect(ids()).toEqual([['held']]);
  const last = commitAll(noted('b'));
  await new Promise(setImmediate);
  expect(ids()).toEqual([['held'], ['a', 'b']]);
  release();
  expect([await held, await last].flat()).toEqual(Array(3).fill('written'));
});

test('AUD-04.4 an entry that cannot be redacted is refused, and nothing of it is written', async () => {
  const memory = memoryLedgerStore();
  const redactor = {
    ...createRedactor(),
    value() {
      throw new RangeError('too deep');
    },
  };
  const ledger = await openLedger({ chainId: 'one', log: silentLog, store: memory, redactor });
  await expect(ledger.commit(noted('a'))).rejects.toMatchObject({ code: 'E3812', cause: { message: 'too deep' } });
  expect(await memory.chainHead('one')).toBeUndefined();
});

test('AUD-02 what comes while entries of a failed batch are written alone is sent after them, a full batch too', async () => {
  const { ends, written, commitAll, chain, release } = await opened({ batchMax: 2 });
  ends.push('answered', 'failed');
  const first = commitAll(noted('a'), noted('held'), noted('b'));
  while (!written.some(({ ids }) => ids.includes('held'))) await new Promise(setImmediate);
  const others = commitAll(noted('c'), noted('d'));
  await new Promise(setImmediate);
  expect(written.map(({ ids }) => ids)).toEqual([['a'], ['held']]);
  release();
  expect([await first, await others].flat()).toEqual(Array(5).fill('written'));
  expect(await chain()).toEqual(['a', 'held', 'b', 'c', 'd']);
});
