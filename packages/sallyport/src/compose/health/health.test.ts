import type { SandboxDriver } from '@sallyport/sandbox';
import { expect, test } from 'vitest';
import { VERSION } from '../version.ts';
import { createHealth, type WriteBounds } from './health.ts';

/** A health check that uses a write function of the test, and a clock that the write function moves. */
function healthOver(write: () => Promise<void>, bounds: Partial<WriteBounds> = {}) {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const driver = { name: 'none', probe: async () => ({ works: true, weaknesses: [] }) } as unknown as SandboxDriver;
  const health = createHealth({ clock, driver, write, identity: () => ({ ok: true }), bounds });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { ...health, pass };
}

test('OPS-03 a write that fails makes the layer not ready, with the reason', async () => {
  let full = true;
  const { report, pass } = healthOver(async () => {
    if (full) throw new Error('no space left on device');
  });
  const refused = await report();
  expect(refused).toMatchObject({ status: 'degraded', ready: false, parts: { database: { ok: false } } });
  expect(refused.reason).toBe(refused.parts['database']?.message);
  full = false;
  pass(1_000);
  const ready = await report();
  expect(ready).toMatchObject({ status: 'ready', ready: true, parts: { database: { ok: true } } });
  expect(ready).not.toHaveProperty('reason');
});

test('OPS-03 a write that takes too long counts as failed, and is not joined by a second one', async () => {
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  let writes = 0;
  const { report, pass } = healthOver(
    () => {
      writes += 1;
      return writes === 1 ? written : Promise.resolve();
    },
    { timeoutMs: 1 },
  );
  for (let look = 0; look < 3; look += 1) {
    expect(await report()).toMatchObject({
      ...{ status: 'degraded', ready: false, reason: expect.stringContaining('longer than 1 ms') },
      parts: { database: { ok: false } },
    });
    pass(1_000);
  }
  expect(writes).toBe(1);
  write();
  await written;
  await new Promise((resolve) => setImmediate(resolve));
  pass(1_000);
  expect(await report()).toMatchObject({ ready: true });
  expect(writes).toBe(2);
});

test('OPS-03 many probes are one write, at most one each second', async () => {
  let writes = 0;
  const { report, pass } = healthOver(async () => {
    writes += 1;
  });
  await Promise.all(Array.from({ length: 50 }, report));
  pass(999);
  await report();
  expect(writes).toBe(1);
  pass(1);
  await Promise.all(Array.from({ length: 50 }, report));
  expect(writes).toBe(2);
});

test('OPS-03 a layer that stops is not ready, whatever can be written, until all who stop it are done', async () => {
  const { report, drain } = healthOver(async () => undefined);
  const [first, second] = [drain(), drain()];
  first();
  expect(await report()).toMatchObject({ status: 'draining', ready: false, reason: 'the layer is stopping' });
  second();
  expect(await report()).toMatchObject({ status: 'ready', ready: true });
});

test('OPS-03 a sandbox that does not work, and callers that cannot be verified, leave the layer ready and degraded', async () => {
  let now = 10_400;
  const clock = { now: () => now, monotonic: () => now };
  let probed: object = { works: true, weaknesses: [] };
  let callers: { ok: boolean; message?: string } = { ok: true };
  const driver = { name: 'bubblewrap', probe: async () => probed } as unknown as SandboxDriver;
  const { report } = createHealth({ clock, driver, write: async () => undefined, identity: () => callers });
  now += 1_250;
  expect(await report()).toEqual({
    ...{ status: 'ready', ready: true, version: VERSION, uptime_seconds: 1.25 },
    parts: { database: { ok: true }, sandbox: { ok: true }, identity: { ok: true } },
  });
  for (const [probe, sandbox] of [
    [
      { works: true, weakerLimits: ['memory'] },
      { ok: true, weaker_limits: ['memory'] },
    ],
    [
      { works: false, problem: 'not installed', weakerLimits: ['cpu'] },
      { ok: false, message: 'not installed', weaker_limits: ['cpu'] },
    ],
    [{ works: false }, { ok: false, message: 'bubblewrap does not work here' }],
  ] as const) {
    probed = probe;
    const found = await report();
    expect([found.status, found.ready, found.parts['sandbox']]).toEqual([
      sandbox.ok ? 'ready' : 'degraded',
      true,
      sandbox,
    ]);
  }
  probed = { works: true };
  callers = { ok: false, message: 'no keys' };
  expect(await report()).toMatchObject({ status: 'degraded', ready: true, parts: { identity: callers } });
});
