import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runtimeMounts } from '@sallyport/sandbox';
import { createToolLayer, LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import { createStory } from '../first-call/story.ts';

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-checkpoints-'));
const here = import.meta.dirname;
const STOP = { stop_after: { type: 'integer', description: 'Where its power fails.' } } as const;

/** A program that saves checkpoints: `stdin: checkpoints` says so. */
const tool = (tool_id: string, command: readonly string[], more: Partial<ToolManifest> = {}): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description: 'Works for long, and can continue.',
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object', properties: STOP, additionalProperties: false },
  executor: { kind: 'shell', config: { command: [...command, '{stop_after}'], stdin: 'checkpoints' } },
  ...more,
});

try {
  const node = process.execPath;
  const folders = [...runtimeMounts([node]).map(({ path }) => path), here];
  await using layer = await createToolLayer({
    settings: {
      data_folder: join(home, 'data'),
      'log.level': 'silent',
      'agent.mounts': folders.map((path) => `${path}:ro`),
    },
  });
  const permissions = { filesystem: folders.map((path) => ({ path, mode: 'ro' as const })) };
  const reading = tool('read-chapters', ['sh', join(here, 'read-chapters.sh')], { permissions });
  const summing = tool('sum-orders', [node, join(here, 'sum-orders.mjs')], { permissions });
  for (const manifest of [reading, summing]) await layer.ask('tools.register', { manifest }, LOCAL_CALLER);
  const { capability_token } = await layer.mintToken({
    agent_did: 'did:example:worker',
    paths: folders,
  });
  const call = (tool_id: string, parameters: object, resume_from_checkpoint_id?: string) =>
    layer.invoke({
      tool_id,
      parameters: { ...parameters },
      capability_token,
      ...(resume_from_checkpoint_id === undefined ? {} : { checkpoint_config: { resume_from_checkpoint_id } }),
    });
  const newestOf = (answer: Awaited<ReturnType<typeof call>>): string =>
    answer.execution_metadata.checkpoints_created?.at(-1)?.checkpoint_id ?? '';

  story.step('A shell script saves how far it came');
  const cut = await call('read-chapters', { stop_after: 4 });
  story.holds('it fails in the middle, with a checkpoint of each chapter', () => {
    assert.equal(cut.error?.e_code, 'E3108', JSON.stringify(cut));
    assert.equal(cut.execution_metadata.checkpoints_created?.length, 4);
  });
  const { state } = await layer.ask('checkpoints.get', { checkpoint_id: newestOf(cut) }, LOCAL_CALLER);
  story.holds('the newest one says chapter 4', () => assert.equal(state, 4));

  story.step('Another call continues there');
  const whole = await call('read-chapters', {}, newestOf(cut));
  story.holds('and reads what is left', () => {
    const { stdout, stderr } = whole.result as { stdout: string; stderr: string };
    assert.deepEqual([stdout, stderr], ['read to the end\n', 'begins after chapter 4\n']);
  });
  const twice = await call('read-chapters', {}, newestOf(cut));
  story.holds('work that is done has no checkpoints any more', () => assert.equal(twice.error?.e_code, 'E3702'));

  story.step('A Node program saves a JSON value, and names a milestone');
  const half = await call('sum-orders', { stop_after: 7 });
  story.holds('the milestone is kept beside the others', () => {
    const types = half.execution_metadata.checkpoints_created?.map(({ checkpoint_type }) => checkpoint_type);
    assert.deepEqual(types, ['micro', 'micro', 'micro', 'micro', 'macro', 'micro', 'micro'], JSON.stringify(half));
  });
  const summed = await call('sum-orders', {}, newestOf(half));
  story.holds('each order is summed once', () => {
    const { stdout } = summed.result as { stdout: string };
    assert.deepEqual(JSON.parse(stdout), { from: 7, sums: { Ada: 25, Bob: 30 } });
  });
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}
