import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolLayer, serve } from '../../packages/sallyport/src/index.ts';
import { commandLine } from '../first-call/sallyport-process.ts';
import { createStory } from '../first-call/story.ts';
import { argumentsChapter } from './chapters/arguments.ts';
import { detectorsChapter } from './chapters/detectors.ts';
import { foreignWordsChapter } from './chapters/foreign-words.ts';
import { gateChapter } from './chapters/gate.ts';
import { hooksChapter } from './chapters/hooks.ts';
import { policiesChapter } from './chapters/policies.ts';
import { recordChapter } from './chapters/record.ts';
import { tokensChapter } from './chapters/tokens.ts';
import { trustChapter } from './chapters/trust.ts';
import { startModelStandIn } from './model-stand-in.ts';
import { startOutgoingPost } from './outgoing-post.ts';
import { storyHooks } from './story-hooks.ts';
import { registerTools } from './story-tools.ts';
import { readingCommandLine, type TrustParts } from './trust-story.ts';

/** What the gate's model is asked to hold calls against. */
const GATE = `policies = []
[phases]
verifier = ["Nothing may be said about the weather."]
`;

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-trust-'));
try {
  const folder = join(home, 'data');
  const notes = join(home, 'notes');
  await mkdir(notes);
  await mkdir(join(folder, 'policies'), { recursive: true });
  await using model = await startModelStandIn();
  await using post = await startOutgoingPost();
  const webhook = { id: 'outgoing', at: 'before', url: post.url, secret: 'POST_KEY' };
  const lines = Object.entries(webhook).map(([key, value]) => `${key} = "${value}"\n`);
  await writeFile(join(folder, 'hooks.toml'), `[[webhook]]\n${lines.join('')}tools = ["post-message"]\n`);
  await writeFile(join(folder, 'policies', 'adversarial.toml'), GATE);
  await using layer = await createToolLayer({
    settings: {
      data_folder: folder,
      'audit.checkpoint_seconds': 1,
      'log.level': 'silent',
      'agent.mounts': [`${home}:rw`, '.:ro'],
      'quota.calls_per_session': 3,
      'model.url': model.url,
      'model.name': 'stand-in',
      'gate.enabled': true,
    },
    environment: { ...process.env, SALLYPORT_SECRET_POST_KEY: post.secret },
    hooks: storyHooks(notes),
  });
  const runsOf = await registerTools(layer, notes);
  await using server = await serve(layer, { port: 0 });
  const sallyport = commandLine(folder, {});
  const reading = readingCommandLine(folder);
  const parts: TrustParts = { story, layer, url: server.url, folder, notes, model, post, runsOf, sallyport, reading };
  for (const chapter of [
    tokensChapter,
    policiesChapter,
    trustChapter,
    hooksChapter,
    gateChapter,
    argumentsChapter,
    foreignWordsChapter,
    detectorsChapter,
    recordChapter,
  ]) {
    await chapter(parts);
  }
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}
