import { systemClock } from '@sallyport/std/clock';
import { beforeEach, expect, test } from 'vitest';
import { memoryQuarantineStore } from '../../../test/stores/memory-quarantine-store.ts';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import { silentLog } from '../../telemetry/log.ts';
import {
  createQuarantine,
  definitionHash,
  type Quarantine,
  type QuarantineParts,
  TOOLS_PER_UPSTREAM_MAX,
} from '../quarantine.ts';
import type { StoredPlace } from '../upstream-store.port.ts';
import { known, listed } from './known-tools.fixture.ts';

const listing = (...tools: readonly ListedMcpTool[]) =>
  tools.map((tool) => ({ toolId: `up__${tool.name}`, listed: tool }));

const ENOUGH = { timeout: 50_000 };
let store = memoryQuarantineStore();
const make = (more: Partial<QuarantineParts> = {}): Quarantine =>
  createQuarantine({ store, clock: systemClock, log: silentLog, ...more });
beforeEach(() => {
  store = memoryQuarantineStore();
});

test('a tool that nobody knows, and one that is as accepted, is not blocked', async () => {
  const quarantine = make();
  expect(quarantine.blocks('acme', 'up__a')).toBeUndefined();
  expect(quarantine.refusal('acme', 'up', 'a', 'any')).toBeUndefined();
  await quarantine.put([known('a')]);
  expect(quarantine.blocks('acme', 'up__a')).toBeUndefined();
  expect(quarantine.refusal('acme', 'up', 'a', definitionHash(listed('a')))).toBeUndefined();
});

test('REG-09.5 what is served otherwise is refused at once, before anything is compared or written', async () => {
  const quarantine = make();
  await quarantine.put([known('a')]);
  expect(quarantine.refusal('acme', 'up', 'a', definitionHash(listed('a', 'Second.')))?.code).toBe('E3813');
  expect(quarantine.refusal('acme', 'up', 'a', undefined)).toMatchObject({
    code: 'E3001',
    details: { reached: false },
  });
  expect(quarantine.refusal('globex', 'up', 'a', undefined)).toBeUndefined();
  const told: true[] = [];
  using _listening = quarantine.onChanged(() => told.push(true));
  quarantine.compare('acme', 'up', listing(listed('a', 'Second.')));
  expect(quarantine.blocks('acme', 'up__a')).toEqual({ reason: 'changed', upstream: 'up', tool: 'a' });
  expect(quarantine.blocks('globex', 'up__a')).toBeUndefined();
  // To list the accepted definition again is not enough: the block stays until its end is stored.
  quarantine.compare('acme', 'up', listing(listed('a')));
  expect(quarantine.refusal('acme', 'up', 'a', definitionHash(listed('a')))?.code).toBe('E3813');
  await quarantine.put([known('a', { block: 'changed' })]);
  await quarantine.put([known('a')]);
  expect(quarantine.blocks('acme', 'up__a')).toBeUndefined();
  expect(told).toHaveLength(2);
});

test('REG-09 of a reference server a changed definition is accepted and may run at once, but not what an operator refused', async () => {
  const quarantine = make();
  const [later, refused] = [listed('a', 'Later.'), listed('b', 'Later.')];
  const rejected = known('b', { block: 'rejected', rejectedHash: definitionHash(refused) });
  await quarantine.put([known('a'), rejected, known('c'), known('d', { block: 'absent' })]);
  expect(quarantine.refusal('acme', 'up', 'a', definitionHash(later), true)).toBeUndefined();
  expect(quarantine.refusal('acme', 'up', 'a', undefined, true)?.code).toBe('E3001');
  expect(quarantine.refusal('acme', 'up', 'b', definitionHash(refused), true)?.code).toBe('E3813');
  const compared = quarantine.compare('acme', 'up', listing(later, refused, listed('d', 'Later.')), true);
  expect(compared.accepted.map(({ known: { toolId } }) => toolId)).toEqual(['up__a', 'up__d']);
  expect(compared).toMatchObject({ changed: [], rejected: [{ known: rejected }], absent: [{ toolId: 'up__c' }] });
  expect(quarantine.blocks('acme', 'up__a')).toBeUndefined();
});

test('REG-09 it outlives a restart, and is forgotten with its upstream alone', async () => {
  const first = make();
  const tools = [known('a', { block: 'rejected' }), known('b'), known('c', { upstream: 'other', block: 'absent' })];
  await first.put(tools);
  const second = make();
  await second.load();
  expect(second.tools('acme')).toMatchObject(tools);
  expect(second.blocks('acme', 'up__a')?.reason).toBe('rejected');
  expect(second.waitingAt('acme', 'up')).toBe(1);
  expect(second.waitingAt('acme', 'other')).toBe(0);
  await second.forget('acme', 'up');
  expect(second.blocks('acme', 'up__a')).toBeUndefined();
  expect(second.find('acme', 'up__b')).toBeUndefined();
  expect(second.tools('acme').map(({ toolId }) => toolId)).toEqual(['up__c']);
  await first.reread('acme', 'up');
  expect(first.tools('acme').map(({ toolId }) => toolId)).toEqual(['up__c']);
});

test('a failed write lifts no block', async () => {
  const quarantine = make({ store: { ...store, putAll: () => Promise.reject(new Error('no database')) } });
  await store.putAll([known('a', { block: 'changed' })]);
  await quarantine.load();
  await expect(quarantine.put([known('a')])).rejects.toThrow('no database');
  expect(quarantine.blocks('acme', 'up__a')?.reason).toBe('changed');
});

test('an upstream has at most as many tools as are remembered; one more is refused', async () => {
  const quarantine = make();
  const many = Array.from({ length: TOOLS_PER_UPSTREAM_MAX - 1 }, (_, at) => known(`old-${at}`, { block: 'absent' }));
  await quarantine.put(many);
  const { unknown, refused } = quarantine.compare('acme', 'up', listing(listed('x'), listed('y')));
  expect(unknown.map(({ toolId }) => toolId)).toEqual(['up__x']);
  expect(refused).toMatchObject([{ place: 'y', reason: expect.stringContaining('20000') }]);
});

test('a scanner that fails makes a tool suspicious, and one that is good is asked with the tools of others', async () => {
  const seen: string[][] = [];
  const quarantine = make({
    scanner: ({ name }, { foreignTools }) => {
      seen.push([...foreignTools]);
      if (name === 'bad') throw new Error('broken');
      return { verdict: 'clean', findings: [] };
    },
  });
  await quarantine.put([known('a'), known('b', { upstream: 'other', toolId: 'other__b' })]);
  const verdicts = await quarantine.scan('acme', 'up', [listed('good'), listed('bad')]);
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['clean', 'suspicious']);
  expect(seen).toEqual([['b'], ['b']]);
});

test('REG-09 the words of a reference server are not judged, and those of every other are', async () => {
  const quarantine = make({ scanner: () => ({ verdict: 'malicious', findings: [] }) });
  const verdictOf = async (isTrusted: boolean) => (await quarantine.scan('acme', 'up', [listed('a')], isTrusted))[0];
  expect(await verdictOf(true)).toEqual({ verdict: 'clean', findings: [] });
  expect(await verdictOf(false)).toMatchObject({ verdict: 'malicious' });
});

test('work on one upstream waits for its turn, also behind work that failed', async () => {
  const quarantine = make();
  const order: string[] = [];
  const first = quarantine.inTurn('acme', 'up', async () => {
    await Promise.resolve();
    order.push('first');
    throw new Error('lost');
  });
  const second = quarantine.inTurn('acme', 'up', async () => void order.push('second'));
  await quarantine.inTurn('acme', 'other', async () => void order.push('other'));
  await expect(first).rejects.toThrow('lost');
  await second;
  expect(order.indexOf('first')).toBeLessThan(order.indexOf('second'));
});

test('REG-09 what another instance decided or forgot holds here once it is read again, and only that is told', async () => {
  const [here, there] = [make(), make()];
  await there.put([known('a'), known('b', { block: 'changed' }), known('c')]);
  await here.reread('acme', 'up');
  const told: true[] = [];
  using _listening = here.onChanged(() => told.push(true));
  await here.reread('acme', 'up');
  expect(told).toEqual([]);
  await there.put([known('a', { block: 'rejected' }), known('b')]);
  await here.reread('acme', 'up');
  expect(told).toHaveLength(1);
  expect(here.blocks('acme', 'up__a')?.reason).toBe('rejected');
  expect(here.blocks('acme', 'up__b')).toBeUndefined();
  await there.forget('acme', 'up');
  await here.reread('acme', 'up');
  expect(here.tools('acme')).toEqual([]);
  expect(here.blocks('acme', 'up__a')).toBeUndefined();
});

test('what is read while something is written here never undoes it', async () => {
  const read = Promise.withResolvers<void>();
  let reads = 0;
  const load = async (place?: StoredPlace) => {
    const tools = await store.load(place);
    reads += 1;
    await read.promise;
    return tools;
  };
  const here = make({ store: { ...store, load } });
  await using _following = here.follow(1);
  await make().put([known('a')]);
  await expect.poll(() => reads, ENOUGH).toBe(1);
  const put = here.inTurn('acme', 'up', () => here.put([known('a', { block: 'changed' })]));
  read.resolve();
  await put;
  expect(here.blocks('acme', 'up__a')?.reason).toBe('changed');
  expect(await store.load()).toMatchObject([{ block: 'changed' }]);
});

test('decisions of others are followed until that is disposed, and a store that fails is asked again', async () => {
  const there = make();
  let loads = 0;
  const load = (place?: StoredPlace) => {
    loads += 1;
    return loads === 1 ? Promise.reject(new Error('the database is away')) : store.load(place);
  };
  const here = make({ store: { ...store, load } });
  const following = here.follow(5);
  await there.put([known('a', { block: 'rejected' })]);
  await expect.poll(() => here.blocks('acme', 'up__a'), ENOUGH).toMatchObject({ reason: 'rejected' });
  await there.forget('acme', 'up');
  await expect.poll(() => here.tools('acme'), ENOUGH).toEqual([]);
  await following[Symbol.asyncDispose]();
  const last = loads;
  await there.put([known('a')]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(loads).toBe(last);
});

test('REG-09.6 OPS-04.1 what an operator decided at another instance meanwhile is not overwritten: the work is done again with it', async () => {
  const [here, there] = [make(), make()];
  await here.put([known('a'), known('b', { block: 'absent' })]);
  await there.load();
  const second = listed('a', 'Second.');
  const served = { hash: definitionHash(second), definition: second, serverVersion: '', findings: [] };
  const rejected = known('a', { block: 'rejected', rejectedHash: served.hash, served });
  const seen: string[][] = [];
  await here.inTurn('acme', 'up', async () => {
    const { changed, accepted } = here.compare('acme', 'up', listing(second, listed('b')));
    seen.push(changed.map(({ known: { tool } }) => tool));
    if (seen.length === 1) await there.put([rejected]);
    await here.put([
      ...accepted.map(({ known: { block: _block, ...tool } }) => tool),
      ...changed.map(({ known: tool }) => ({ ...tool, block: 'changed' as const, served })),
    ]);
  });
  expect(seen).toEqual([['a'], []]);
  const onRecord = new Map((await store.load()).map((tool) => [tool.toolId, tool]));
  expect(onRecord.get('up__a')).toMatchObject({ block: 'rejected', rejectedHash: served.hash });
  expect(onRecord.get('up__b')?.block).toBeUndefined();
  expect(here.find('acme', 'up__a')).toMatchObject({ block: 'rejected', rejectedHash: served.hash });
  expect(here.blocks('acme', 'up__b')).toBeUndefined();
});

test('REG-09.6 who loses against another instance again and again ends with E3704', async () => {
  const [here, there] = [make(), make()];
  await here.put([known('a')]);
  let tries = 0;
  const work = here.inTurn('acme', 'up', async () => {
    tries += 1;
    await there.load();
    await there.put([known('a', { version: `${tries}.0.0` })]);
    await here.put([known('a', { block: 'changed' })]);
  });
  await expect(work).rejects.toMatchObject({ code: 'E3704' });
  expect(tries).toBe(5);
  expect(here.find('acme', 'up__a')).toMatchObject({ version: '5.0.0' });
});
