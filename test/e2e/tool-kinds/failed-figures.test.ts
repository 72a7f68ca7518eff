import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../src/index.ts';
import { createBubblewrapDriver } from '../../../src/sandbox/drivers/bubblewrap/bubblewrap-driver.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';

const { works } = await createBubblewrapDriver().probe();
let open: OpenLayer;

beforeAll(async () => {
  open = await openLayer();
  const manifest = {
    tool_id: 'fails',
    tool_name: 'Fails',
    version: '1.0.0',
    description: 'Counts for a while and fails.',
    side_effect_policy: 'pure',
    parameters_schema: { type: 'object', additionalProperties: false },
    executor: {
      kind: 'shell',
      config: { command: ['/usr/bin/seq', '5000000', 'x'], output: 'text' },
    },
  };
  await open.layer.ask('tools.register', { manifest }, LOCAL_CALLER);
});
afterAll(() => open[Symbol.asyncDispose]());

describe.skipIf(!works)('figures of a failed call', () => {
  test('SBX-07 over REST a tool that failed says what it used', async () => {
    const { body } = await post(open, '/v1/invocations', JSON.stringify({ tool_id: 'fails', parameters: {} }));
    expect(body, JSON.stringify(body)).toMatchObject({ status: 'error', error: { e_code: 'E3108' } });
    const { memory_peak_mb } = body['execution_metadata'] as { memory_peak_mb: number };
    expect(memory_peak_mb).toBeGreaterThan(0);
  });
});
