import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolLayer, LOCAL_CALLER, ToolLayerError } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import { createStory } from '../first-call/story.ts';
import { COUNTER, CURIOUS, DEMANDING, ENDLESS, FAULTY, GREEDY, TOTAL, TOTAL_IN_PROCESS } from './modules.ts';

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-functions-'));
try {
  await using layer = await createToolLayer({ settings: { data_folder: join(home, 'data'), 'log.level': 'silent' } });
  const register = (manifest: ToolManifest) => layer.ask('tools.register', { manifest: { ...manifest } }, LOCAL_CALLER);
  for (const manifest of [TOTAL, TOTAL_IN_PROCESS, CURIOUS, ENDLESS, GREEDY, COUNTER]) await register(manifest);
  const { capability_token } = await layer.mintToken({
    agent_did: 'did:example:bookkeeper',
    tenant_id: 'default',
  });
  const call = (tool_id: string, parameters: Record<string, unknown> = {}) =>
    layer.invoke({ tool_id, parameters, capability_token });

  story.step('A function that came as text runs in a sandbox');
  const lines = [
    { price: 12.5, pieces: 2 },
    { price: 0.99, pieces: 10 },
  ];
  const expected = { net: 34.9, tax: 6.63, gross: 41.53 };
  const total = await call('invoice-total', { lines, taxPercent: 19 });
  story.holds('in an interpreter it gives its result', () => assert.deepEqual(total.result, expected));
  const apart = await call('invoice-total-apart', { lines, taxPercent: 19 });
  story.holds('in a process with namespaces the same source gives the same', () =>
    assert.deepEqual(apart.result, expected),
  );
  const failed = await call('invoice-total', { lines: [] });
  story.holds('what it throws comes back with its message and its line', () => {
    assert.equal(failed.error?.e_code, 'E3108');
    assert.match(failed.error.message, /RangeError: an invoice has at least one line \(total line 6\)/);
  });

  story.step('It sees nothing of the host, and nothing of other calls');
  const seen = await call('look-around');
  story.holds('there is no process, no network, no timer, no module', () =>
    assert.deepEqual(seen.result, { found: [], file: 'there is no module "node:fs" here' }),
  );
  const counts = [await call('count-calls', { round: 1 }), await call('count-calls', { round: 2 })];
  story.holds('each call begins anew', () =>
    assert.deepEqual(
      counts.map(({ result }) => result),
      [1, 1],
    ),
  );

  story.step('It ends at its bounds');
  const endless = await call('count-for-ever');
  story.holds('at its time', () => assert.equal(endless.error?.e_code, 'E3103'));
  const greedy = await call('keep-everything');
  story.holds('at its memory', () => {
    assert.equal(greedy.error?.e_code, 'E3102');
    assert.match(greedy.error.message, /32 MB of memory/);
  });

  story.step('What could not run is refused when it is registered');
  const faulty = await refusalOf(register(FAULTY));
  story.holds('a syntax error, with its line', () => assert.match(faulty, /E3008.*line 3: SyntaxError/));
  const demanding = await refusalOf(register({ ...DEMANDING, executor: { kind: 'native' } }));
  story.holds('isolation that a function in process does not have', () =>
    assert.match(demanding, /E3008.*asks for microvm/),
  );
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}

async function refusalOf(asked: Promise<unknown>): Promise<string> {
  const thrown: unknown = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof ToolLayerError, 'it was not refused');
  return `${thrown.code} ${thrown.message} ${JSON.stringify(thrown.failure)}`;
}
