import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { expect, test } from 'vitest';
import { fixture } from '../../../packages/sallyport/src/mcp-servers/test-servers/upstreams.fixture.ts';
import { callFor, definitionOf, TENANT } from './echo-calls.ts';

const driver = createBubblewrapDriver();
const { works, problem } = await driver.probe();

test.skipIf(!works)(
  `the server of the benchmarks answers with its argument${works ? '' : `, skipped: ${problem}`}`,
  async () => {
    const upstreams = fixture(driver).upstreams;
    try {
      await upstreams.add(TENANT, definitionOf('echo'));
      expect((await callFor(upstreams, 2, 0)).p50Ms).toBeGreaterThan(0);
    } finally {
      await upstreams.close();
    }
  },
);
