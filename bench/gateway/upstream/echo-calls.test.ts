import { expect, test } from 'vitest';
import { createUpstreams } from '../../../src/mcp-servers/upstreams.ts';
import { createBubblewrapDriver } from '../../../src/sandbox/drivers/bubblewrap/bubblewrap-driver.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { memoryUpstreamStore } from '../../../src/storage/memory/memory-upstream-store.ts';
import { silentLog } from '../../../src/telemetry/log.ts';
import { callFor, definitionOf, TENANT } from './echo-calls.ts';

const driver = createBubblewrapDriver();
const { works, problem } = await driver.probe();

test.skipIf(!works)(
  `the server of the benchmarks says what it is told${works ? '' : `, skipped: ${problem}`}`,
  async () => {
    const upstreams = createUpstreams({
      driver,
      store: memoryUpstreamStore(),
      log: silentLog,
      clock: systemClock,
      client: { name: 'test', version: '0.0.0' },
    });
    try {
      await upstreams.add(TENANT, definitionOf('echo'));
      expect((await callFor(upstreams, 2, 0)).p50Ms).toBeGreaterThan(0);
    } finally {
      await upstreams.close();
    }
  },
);
