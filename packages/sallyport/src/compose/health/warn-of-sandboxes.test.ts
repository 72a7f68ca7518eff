import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DriverProbe, SandboxDriver, SandboxSpec } from '@sallyport/sandbox';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Log, silentLog } from '../../telemetry/log.ts';
import { createToolLayer } from '../create-tool-layer.ts';
import { doctor } from '../doctor.ts';
import { openSandboxes } from '../parts/sandboxes/open-sandboxes.ts';
import { readSettings } from '../read-settings.ts';
import { serve } from '../serve.ts';
import { warnOfSandboxes } from './warn-of-sandboxes.ts';

const { works } = await createBubblewrapDriver().probe();
const folder = mkdtempSync(join(tmpdir(), 'warn-'));

/** Runs the bubblewrap of this machine, but gives no answer when it is asked for its version. */
beforeAll(() => {
  const path = process.env['PATH'] ?? '';
  const script = `#!/bin/sh\n[ "$1" = --version ] && exec echo unknown\nPATH='${path}'\nexec bwrap "$@"\n`;
  writeFileSync(join(folder, 'bwrap'), script);
  chmodSync(join(folder, 'bwrap'), 0o755);
  chmodSync(folder, 0o755);
  vi.stubEnv('PATH', `${folder}:${path}`);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const settingsWith = (refuses: boolean) =>
  readSettings({
    environment: {},
    given: { 'sandbox.drivers': ['bubblewrap'], 'sandbox.refuse_known_holes': refuses, data_folder: folder },
  });

const SPEC: SandboxSpec = {
  label: 'tool',
  command: ['/bin/true'],
  environment: {},
  mounts: [],
  network: [],
  limits: { cpuMillicores: 1000, memoryMb: 64, processesMax: 8, diskMb: 1 },
};

test.runIf(works)('SBX-02 a bubblewrap of unknown version is told by doctor and in the log of a server', async () => {
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void lines.push({ event, ...fields }) };
  await using layer = await createToolLayer({ settings: settingsWith(false), log, environment: {} });
  await (await serve(layer, { port: 0 })).close();
  const hole = expect.stringContaining('version of this bubblewrap is not known');
  expect(lines).toContainEqual({ event: 'sandbox-has-known-hole', driver: 'bubblewrap', hole });
  expect(await doctor({ dataFolder: folder })).toContainEqual({
    name: 'sandbox: bubblewrap (namespaces)',
    state: 'warning',
    message: hole,
  });
});

test('SBX-03 limits that are weaker here are a warning in the log, once for each driver that works', async () => {
  const driver = (name: string, probe: DriverProbe) => ({ name, probe: async () => probe }) as unknown as SandboxDriver;
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, warn: (event, fields) => void lines.push({ event, ...fields }) };
  const drivers = [
    driver('weak', { works: true, weaknesses: [], weakerLimits: ['memory', 'cpu'] }),
    driver('missing', { works: false, weaknesses: [], weakerLimits: ['memory'] }),
    driver('whole', { works: true, weaknesses: [], holes: [{ text: 'out of reach', isReached: false }] }),
  ];
  await warnOfSandboxes(drivers, log);
  expect(lines).toEqual([{ event: 'sandbox-limits-weaker', driver: 'weak', limits: ['memory', 'cpu'] }]);
});

test.runIf(works)('SBX-02 sandbox.refuse_known_holes refuses it, with what to install', async () => {
  await using opened = new AsyncDisposableStack();
  const { driver } = openSandboxes(opened, settingsWith(true), []);
  await expect(driver.start(SPEC)).rejects.toMatchObject({
    code: 'E3101',
    message: expect.stringMatching(/sandbox\.refuse_known_holes is set.*not known.*apt-get install bubblewrap/),
  });
  expect((await driver.probe()).works).toBe(false);
});
