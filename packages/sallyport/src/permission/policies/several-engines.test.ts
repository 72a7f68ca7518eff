import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as soon } from 'node:timers/promises';
import { systemClock } from '@sallyport/std/clock';
import { expect, onTestFinished, test } from 'vitest';
import { memoryPolicyUpdates } from '../../storage/memory/memory-policy-updates.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createPolicyAdministration, type RunningEngine } from '../policy-administration.ts';
import type { PolicyEngine } from '../policy-engine.port.ts';

const engineThat = (name: string, reload?: PolicyEngine['reload']): PolicyEngine => ({
  ...{ name, version: () => `${name}-1`, decide: () => ({ allowed: false, policies: [] }) },
  ...(reload === undefined ? {} : { reload }),
});

test('PRM-05 new policies of several engines apply at the same moment, and one that cannot read them keeps no other waiting', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'several-engines-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const applied: string[] = [];
  const slow = Promise.withResolvers<void>();
  const engineAfter = (name: string, read: Promise<void>): PolicyEngine =>
    engineThat(name, async (othersRead) => {
      await read;
      await othersRead?.();
      applied.push(name);
      return true;
    });
  const engines = [
    engineAfter('fast', Promise.resolve()),
    engineThat('faulty', () => Promise.reject(new Error('It is wrong.'))),
    engineAfter('slow', slow.promise),
    engineThat('elsewhere'),
  ].map((engine): RunningEngine => ({ engine, mode: 'enforce' }));
  const parts = { engines, folder, updates: memoryPolicyUpdates(), log: silentLog, clock: systemClock };
  const news = { inForce: () => undefined, notTaken: () => undefined };
  const engineOver = async () => engineThat('judging');
  await using administration = createPolicyAdministration({ ...parts, news, engineOver }, engineThat('decided'));
  const reloading = expect(administration.reload()).rejects.toMatchObject({ code: 'E3214' });
  await soon();
  expect(applied).toEqual([]);
  slow.resolve();
  await reloading;
  expect(applied.slice(0, 2)).toEqual(['fast', 'slow']);
});
