import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { systemClock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import { createUpstreams } from '../../../packages/sallyport/src/mcp-servers/upstreams.ts';
import { silentLog } from '../../../packages/sallyport/src/telemetry/log.ts';
import { memoryUpstreamStore } from '../../../packages/sallyport/test/stores/memory-upstream-store.ts';
import { callFor, definitionOf, TENANT } from './echo-calls.ts';

const driver = createBubblewrapDriver();
const { works, problem } = await driver.probe();

test.skipIf(!works)(
  `the server of the benchmarks answers with its argument${works ? '' : `, skipped: ${problem}`}`,
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
