import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SallyportSaver } from '../../packages/sallyport/src/doors/toolbox/langgraph/sallyport-saver.ts';
import { createToolLayer, type EmbeddedToolLayer } from '../../packages/sallyport/src/index.ts';
import { createStory } from '../first-call/story.ts';
import { reportGraph, THREAD } from './graph.ts';

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-langgraph-'));
const folder = join(home, 'data');

/** Starts the graph in another process, and kills it in the second step. */
async function killedInTheMiddle(): Promise<readonly string[]> {
  const script = fileURLToPath(new URL('killed.ts', import.meta.url));
  const running = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(running, 'exit');
  const steps: string[] = [];
  for await (const step of createInterface({ input: running.stdout })) {
    steps.push(step);
    if (step === 'think') running.kill('SIGKILL');
  }
  await ended;
  return steps;
}

async function saverOf(layer: EmbeddedToolLayer, agent_did: string): Promise<SallyportSaver> {
  const { capability_token: token } = await layer.mintToken({ agent_did });
  return new SallyportSaver({ layer, token });
}

try {
  story.step('A graph is killed in its second step');
  const before = await killedInTheMiddle();
  story.holds('the first step was done, the second had begun', () => assert.deepEqual(before, ['read', 'think']));

  story.step('Another process continues its thread');
  await using layer = await createToolLayer({ settings: { data_folder: folder, 'log.level': 'silent' } });
  const saver = await saverOf(layer, 'did:example:writer');
  const steps: string[] = [];
  const graph = reportGraph(saver, (step) => void steps.push(step));
  const { next, values } = await graph.getState(THREAD);
  story.holds('the thread is where it was', () => {
    assert.deepEqual([next, values.notes], [['think'], ['read']]);
  });
  const ended = await graph.invoke(null, THREAD);
  story.holds('no step that was done is repeated', () => assert.deepEqual(steps, ['think', 'write']));
  story.holds('the result is whole', () => assert.deepEqual(ended.notes, ['read', 'think', 'write']));

  story.step('The thread belongs to its agent');
  const other = await saverOf(layer, 'did:example:reader');
  const seen = await other.getTuple(THREAD);
  story.holds('another agent does not see it', () => assert.equal(seen, undefined));
  await saver.deleteThread('report');
  const left = await saver.getTuple(THREAD);
  story.holds('its own agent removes it', () => assert.equal(left, undefined));
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}
