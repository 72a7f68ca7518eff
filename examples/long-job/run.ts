// A long job over a folder of documents, a power cut, and its end: node examples/long-job/run.ts
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import { createStory } from '../first-call/story.ts';
import { CALL, CLERK, call, knownOfJob, openLayer, RULES, storeRules } from './job.ts';

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-long-job-'));
const dataFolder = join(home, 'data');
const notes = join(home, 'notes');
const NAMES = [1, 2, 3, 4, 5, 6].map((at) => `${at}.md`);

/** Starts the job in another process, and cuts its power while it works. */
async function interrupted(): Promise<void> {
  const script = fileURLToPath(new URL('interrupted.ts', import.meta.url));
  const running = spawn(process.execPath, [script, dataFolder, notes], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(running, 'exit');
  await Promise.race([once(running.stdout, 'data'), ended]);
  running.kill('SIGKILL');
  await ended;
}

try {
  await mkdir(notes);
  for (const name of NAMES)
    await writeFile(join(notes, name), `# Note ${name}\n\nThe harbour master wrote down ${name}.\n`);

  story.step('A job files six notes by the rules of a document; the power goes while it is at the fourth');
  await interrupted();

  story.step('The layer is back, and knows how far the job was');
  const filedNow: { readonly name: string; readonly isNew: boolean }[] = [];
  await using layer = await openLayer(dataFolder, async (name, isNew) => void filedNow.push({ name, isNew }));
  const before = await layer.ask('invocations.get', { invocation_id: CALL }, LOCAL_CALLER);
  story.holds('the call that was cut off is over', () => assert.equal(before.status, 'cancelled'));
  const known = await knownOfJob(layer);
  story.holds('its agent reads at the context server that three notes are done', () =>
    assert.deepEqual((known['immediateContext'] as { state: unknown }).state, {
      ...(known['immediateContext'] as { state: object }).state,
      phase: 'filing',
      progress_percent: 50,
      custom_state: { done: ['1.md', '2.md', '3.md'] },
    }),
  );
  story.holds('and that half of them was a milestone', () =>
    assert.deepEqual(
      (known['checkpoints'] as { label: string }[]).map(({ label }) => label),
      ['half of them'],
    ),
  );

  story.step('The rules change, and another call continues the job');
  await storeRules(layer, 'No note is filed any more.');
  const { checkpoints } = await layer.ask('checkpoints.list', { invocation_id: CALL }, LOCAL_CALLER);
  const { capability_token } = await layer.mintToken(CLERK);
  const end = await layer.invoke({
    tool_id: 'file-notes',
    parameters: { folder: notes },
    document_context: { document_refs: [RULES] },
    checkpoint_config: { resume_from_checkpoint_id: checkpoints[0]?.checkpoint_id ?? '' },
    capability_token,
  });
  story.holds('it comes to its end, by the rules that it began with', () =>
    assert.deepEqual([end.status, end.result], ['success', { filed: 6, by: ['Every note is filed as it is.'] }]),
  );
  story.holds('it began where the first one was cut off', () =>
    assert.deepEqual(
      filedNow.map(({ name }) => name),
      NAMES.slice(3),
    ),
  );

  story.step('Every note was filed once');
  const ids = NAMES.map((name) => `note:${name.replace('.md', '')}`);
  const { structuredContent } = await call(layer, 'documents__get_document_metadata', { document_ids: ids });
  story.holds('each is there, in one version', () =>
    assert.deepEqual(
      (structuredContent['documents'] as { version: string }[]).map(({ version }) => version),
      NAMES.map(() => '1'),
    ),
  );
  story.holds('the fourth, which was filed when the power went, was not filed again', () =>
    assert.deepEqual(
      filedNow.filter(({ isNew }) => isNew).map(({ name }) => name),
      ['5.md', '6.md'],
    ),
  );
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}
