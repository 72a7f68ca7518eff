import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as soon } from 'node:timers/promises';
import { systemClock } from '@sallyport/std/clock';
import { failureOf } from '@sallyport/std/error/tool-layer-error';
import { expect, onTestFinished, test } from 'vitest';
import { memoryPolicyUpdates } from '../../storage/memory/memory-policy-updates.ts';
import { silentLog } from '../../telemetry/log.ts';
import { createPolicyAdministration, type PolicyReading, type RunningEngine } from '../policy-administration.ts';
import type { PolicyEngine } from '../policy-engine.port.ts';

const engineThat = (name: string, reload?: PolicyEngine['reload']): PolicyEngine => ({
  ...{ name, version: () => `${name}-1`, decide: () => ({ allowed: false, policies: [] }) },
  ...(reload === undefined ? {} : { reload }),
});

/** Two engines that read new policies, one faster than the other, and one that rejects its policies in `mode`. */
async function reloaded(mode: 'enforce' | 'shadow') {
  const folder = await mkdtemp(join(tmpdir(), 'several-engines-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const applied: string[] = [];
  const slow = Promise.withResolvers<void>();
  const isFaulty = { now: true };
  const engineAfter = (name: string, read: Promise<void>): PolicyEngine =>
    engineThat(name, async (othersRead) => {
      await read;
      await othersRead?.();
      applied.push(name);
      return true;
    });
  const engines: readonly RunningEngine[] = [
    { engine: engineAfter('fast', Promise.resolve()), mode: 'enforce' },
    {
      engine: engineThat('faulty', async () => {
        if (isFaulty.now) throw new Error('It is wrong.');
        return false;
      }),
      mode,
    },
    { engine: engineAfter('slow', slow.promise), mode: 'enforce' },
    { engine: engineThat('elsewhere'), mode: 'enforce' },
  ];
  const parts = { engines, folder, updates: memoryPolicyUpdates(), log: silentLog, clock: systemClock };
  const notified: string[] = [];
  const news = { inForce: () => undefined, notTaken: ({ engine }: PolicyReading) => void notified.push(engine) };
  const engineOver = async () => engineThat('judging');
  const administration = createPolicyAdministration({ ...parts, news, engineOver }, engineThat('decided'));
  onTestFinished(() => administration[Symbol.asyncDispose]());
  const reloading = administration.reload().then(() => undefined, failureOf);
  await soon();
  expect(applied).toEqual([]);
  slow.resolve();
  expect(await reloading).toMatchObject({ code: 'E3214' });
  expect(new Set(notified)).toEqual(new Set(['faulty']));
  const faulty = administration.list(false).filter(({ fault }) => fault !== undefined);
  expect(faulty.map(({ engine }) => engine)).toEqual(['faulty']);
  return { administration, applied, isFaulty };
}

test('PRM-05 new policies of several engines apply at the same moment, and one in shadow mode that rejects its own holds no other back', async () => {
  const { applied } = await reloaded('shadow');
  expect(applied.slice(0, 2)).toEqual(['fast', 'slow']);
});

test('PRM-05 while an engine rejects its policies no other changes its own, and all change once they are mended', async () => {
  const { administration, applied, isFaulty } = await reloaded('enforce');
  expect(applied).toEqual([]);
  isFaulty.now = false;
  expect(await administration.reload()).toMatchObject({ changed: true });
  expect(applied.slice(0, 2)).toEqual(['fast', 'slow']);
});
