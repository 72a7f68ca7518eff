import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { MiB } from '@sallyport/std/bytes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../../packages/sallyport/src/manifest.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const driver = createBubblewrapDriver();
const { works, weakerLimits = [] } = await driver.probe();
/** Shares need control groups, which some machines do not have. */
const hasGroups = works && !weakerLimits.includes('memory') && !weakerLimits.includes('cpu');

/** Sleeps for as many seconds as its argument says; the number identifies its process. */
const WAIT: ToolManifest = {
  tool_id: 'wait',
  tool_name: 'Wait',
  version: '1.0.0',
  description: 'Waits.',
  side_effect_policy: 'pure',
  parameters_schema: {
    type: 'object',
    properties: { seconds: { type: 'string', description: 'How long.' } },
    required: ['seconds'],
    additionalProperties: false,
  },
  execution_config: { default_memory_mb_limit: 64 },
  executor: { kind: 'shell', config: { command: ['/usr/bin/sleep', '{seconds}'] } },
};

let open: OpenLayer;
beforeAll(async () => {
  open = await openLayer();
  await open.layer.ask('tools.register', { manifest: WAIT }, LOCAL_CALLER);
});
afterAll(() => open[Symbol.asyncDispose]());

/** The control groups of the process that sleeps for this many seconds: the folder of each controller. */
function groupsOf(seconds: string): ReadonlyMap<string, string> | undefined {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== `/usr/bin/sleep\0${seconds}\0`) continue;
      const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n');
      return new Map(lines.map((line) => line.split(':').slice(1) as [string, string]));
    } catch {
      // The process has ended since its folder was listed.
    }
  }
  return undefined;
}

/**
 * The weight of the process's CPU time and the bytes of memory that are protected for it, as the kernel reports them.
 */
function sharesOf(seconds: string): readonly [number, number] | undefined {
  const groups = groupsOf(seconds);
  const read = (controller: string, file: string) =>
    Number(readFileSync(join('/sys/fs/cgroup', controller, groups?.get(controller) ?? '', file), 'utf8'));
  if (groups === undefined) return undefined;
  return groups.has('cpu')
    ? [(read('cpu', 'cpu.shares') * 100) / 1024, read('memory', 'memory.soft_limit_in_bytes')]
    : [read('', 'cpu.weight'), read('', 'memory.low')];
}

test.skipIf(!hasGroups)(
  'PIPE-16.1 PIPE-16.2 a call of high priority gets more of the processor and keeps more memory than a low one',
  async () => {
    const expected = { low: [25, 0], normal: [100, 32 * MiB], high: [400, 64 * MiB] } as const;
    for (const [priority, shares] of Object.entries(expected)) {
      const seconds = `600.${String(Math.random()).slice(2, 12)}`;
      const invocation_id = `wait-${priority}`;
      const request = {
        tool_id: 'wait',
        invocation_id,
        parameters: { seconds },
        resource_limits: { timeout_seconds: 120 },
        execution_options: { priority },
      };
      const answer = post(open, '/v1/invocations', JSON.stringify(request));
      await expect.poll(() => sharesOf(seconds)).toEqual(shares);
      await open.layer.ask('invocations.cancel', { invocation_id }, LOCAL_CALLER);
      expect((await answer).body).toMatchObject({ error: { e_code: 'E3805' } });
    }
  },
);
