import { createBubblewrapDriver } from '@sallyport/sandbox/bubblewrap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_CALLER } from '../../../packages/sallyport/src/index.ts';
import { type OpenLayer, openLayer, post } from '../layer.fixture.ts';
import { cli } from '../upstreams/cli.fixture.ts';

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
  test('SBX-07.1 over REST a tool that failed says what it used', async () => {
    const { body } = await post(open, '/v1/invocations', JSON.stringify({ tool_id: 'fails', parameters: {} }));
    expect(body, JSON.stringify(body)).toMatchObject({ status: 'error', error: { e_code: 'E3108' } });
    const { memory_peak_mb } = body['execution_metadata'] as { memory_peak_mb: number };
    expect(memory_peak_mb).toBeGreaterThan(0);
  });

  test('API-05 the command line shows the end of what a failed script or command wrote on its standard error', async () => {
    const files = [
      { path: 'report/SKILL.md', content: '---\nname: report\ndescription: Reports.\n---\nRun it.\n' },
      {
        path: 'report/scripts/run.sh',
        content:
          '#!/bin/sh\nfor n in $(seq 50); do echo "step $n" >&2; done\nprintf "no \\033[1mconfig\\n" >&2\nexit 4\n',
      },
    ];
    await open.layer.ask('tools.import-skill', { files }, LOCAL_CALLER);
    const skill = await cli(open, ['invoke', 'skill__report', 'script=scripts/run.sh']);
    expect(skill).toMatchObject({ code: 1, out: '' });
    expect(skill.err).toMatch(
      /^E3108 tool_execution_error: scripts\/run.sh failed with exit code 4\.\n {2}On its standard error it wrote, at the end:\n {4}step 32\n[\s\S]*\n {4}step 50\n {4}no \\u\{0*1b\}\[1mconfig\n$/,
    );
    const shell = await cli(open, ['invoke', 'fails']);
    expect(shell.err).toMatch(/standard error it wrote:\n {4}\S*seq: .*x/);
    const { error } = JSON.parse((await cli(open, ['invoke', 'fails', '--json'])).out);
    expect(error.details.envelope.stderr).toContain('seq: ');
  });
});
