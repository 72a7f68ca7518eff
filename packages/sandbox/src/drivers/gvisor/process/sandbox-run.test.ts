import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ControlGroup } from '../../../linux/limits/control-group.ts';
import type { Bundle } from '../bundle/bundle.ts';
import { launch } from './launch.ts';
import { runSandbox } from './sandbox-run.ts';

const GROUP: ControlGroup = {
  joinFiles: [],
  bound() {},
  usage: () => ({ cpuMs: 0, memoryPeakMb: 0, oomKills: 0, forksRefused: 0 }),
  pids: () => [],
  async remove() {},
};
const BUNDLE = { complaint: async () => '', async remove() {} } as Partial<Bundle> as Bundle;
const ENDS_IN_ORDER = ['/bin/sh', '-c', 'trap "exit 3" TERM; echo ready; while :; do sleep 0.05; done'];

/** Runs a process in the place of runsc; `answers` are the results of the requests to end it. */
async function started(answers: readonly boolean[]) {
  const launched = launch({ command: ENDS_IN_ORDER, uid: undefined, group: GROUP, inherited: [] });
  launched.begin();
  let asked = 0;
  const running = runSandbox({
    ...launched,
    group: GROUP,
    bundle: BUNDLE,
    way: undefined,
    limits: { cpuMillicores: 500, memoryMb: 64, processesMax: 8, diskMb: 8 },
    weakerLimits: [],
    ask: async () => answers[asked++] === true,
    onGone() {},
  });
  running.stderr.resume();
  await once(running.stdout, 'data');
  return { running, launcher: launched.launcher, asked: () => asked };
}

describe('a kill with a grace', () => {
  test('SBX-08 that finds nobody to ask again leaves the exit code of a tool that ends in order', async () => {
    const { running, launcher, asked } = await started([true, false]);
    running.kill(60_000);
    running.kill(60_000);
    while (asked() < 2) await turn();
    await turn();
    launcher.kill('SIGTERM');
    expect((await running.exited).code).toBe(3);
  });

  test('SBX-08 ends at once what was never asked', async () => {
    const { running } = await started([false]);
    running.kill(60_000);
    expect((await running.exited).signal).toBe('SIGKILL');
  });
});
