import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { SandboxSpec } from './driver.port.ts';
import { createBubblewrapDriver } from './drivers/bubblewrap/bubblewrap-driver.ts';
import { createWarmPool, type WarmPool, type WarmPoolParts } from './warm-pool.ts';

const probed = await createBubblewrapDriver().probe();

/** Specs with different keys. */
const spec = (diskMb: number): SandboxSpec => ({
  label: 'test',
  command: ['/bin/true'],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 16, diskMb },
});

const pools: WarmPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

async function openPool(parts: WarmPoolParts = {}): Promise<WarmPool> {
  const pool = createWarmPool(createBubblewrapDriver(), { isBusy: () => false, ...parts });
  pools.push(pool);
  await pool.probe();
  return pool;
}

async function call(pool: WarmPool, diskMb: number): Promise<void> {
  const running = await pool.start(spec(diskMb));
  running.stdout.resume();
  running.stderr.resume();
  expect((await running.exited).code).toBe(0);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

describe.skipIf(!probed.works)(`the warm pool${probed.works ? '' : `, skipped: ${probed.problem}`}`, () => {
  test('SBX-06.2 what was asked for once stands ready for the next call, and again after that', async () => {
    const pool = await openPool();
    await call(pool, 1);
    for (const warm of [1, 2]) {
      await until(() => pool.counts().standing === 1);
      await call(pool, 1);
      expect(pool.counts()).toMatchObject({ warm, cold: 1 });
    }
  });

  test('a key that calls wait for gets more than one, up to its bound', async () => {
    const pool = await openPool({ settings: { standingMax: 8 } });
    await Promise.all(Array.from({ length: 5 }, () => call(pool, 1)));
    await until(() => pool.counts().standing === 3);
    await sleep(100);
    expect(pool.counts()).toEqual({ standing: 3, warm: 0, cold: 5 });
  });

  test('all together are bounded, and the key that was asked for the longest ago gives way', async () => {
    const pool = await openPool({ settings: { standingMax: 2 } });
    for (const diskMb of [1, 2]) await call(pool, diskMb);
    await until(() => pool.counts().standing === 2);
    expect(await pool.prepare(spec(3))).toBe(true);
    expect(pool.counts().standing).toBe(2);
    await call(pool, 2);
    await call(pool, 3);
    expect(pool.counts().warm).toBe(2);
    await call(pool, 1);
    expect(pool.counts().warm).toBe(2);
  });

  test('none of them is made while the machine is busy', async () => {
    let isBusy = true;
    const pool = await openPool({ isBusy: () => isBusy });
    await call(pool, 1);
    await sleep(150);
    expect(pool.counts().standing).toBe(0);
    isBusy = false;
    await until(() => pool.counts().standing === 1);
  });

  test('one that grew old is replaced, and none is kept for a key that nobody asks for any more', async () => {
    let nowMs = 0;
    const clock = { now: () => nowMs, monotonic: () => nowMs };
    const pool = await openPool({ clock, settings: { ageMaxMs: 40, keepMs: 1000 } });
    expect(await pool.prepare(spec(1))).toBe(true);
    nowMs = 500;
    // The old sandbox is ended, and a new one replaces it.
    await until(() => pool.counts().standing === 0);
    await until(() => pool.counts().standing === 1);
    nowMs = 1600;
    await until(() => pool.counts().standing === 0);
    await sleep(100);
    expect(pool.counts().standing).toBe(0);
  });

  test('a pool of nothing starts everything cold', async () => {
    const pool = await openPool({ settings: { standingMax: 0 } });
    expect(await pool.prepare(spec(1))).toBe(false);
    await call(pool, 1);
    expect(pool.counts()).toEqual({ standing: 0, warm: 0, cold: 0 });
  });

  test('a spec that cannot be run is refused as without a pool', async () => {
    const pool = await openPool();
    const missing = { ...spec(1), mounts: [{ path: '/no/such/folder', mode: 'ro' as const }] };
    await expect(pool.start(missing)).rejects.toMatchObject({ code: 'E3105' });
    await expect(pool.start({ ...spec(1), environment: { 'A=B': 'x' } })).rejects.toMatchObject({ code: 'E3101' });
  });

  test('SBX-08 a pool that is closed while it makes one leaves none', async () => {
    const pool = await openPool();
    const prepared = pool.prepare(spec(1));
    await sleep(1);
    await pool.close();
    await prepared;
    expect(pool.counts().standing).toBe(0);
  });
});
