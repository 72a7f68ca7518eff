import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolLayer, LOCAL_CALLER } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import { createStory } from '../first-call/story.ts';
import { OPEN_DOOR, RENAME, toolsFor } from './tools.ts';

const story = createStory();
const home = await realpath(await mkdtemp(join(tmpdir(), 'sallyport-shell-')));
const project = join(home, 'project');
const notes = join(project, 'notes.txt');
try {
  await mkdir(project);
  await writeFile(notes, 'one red fox\n');
  await writeFile(join(project, 'more.txt'), 'two red foxes\n');
  await writeFile(join(project, 'rename.sh'), RENAME);
  await writeFile(join(home, 'private.txt'), 'not for tools\n');
  await using layer = await createToolLayer({
    settings: { data_folder: join(home, 'data'), 'log.level': 'silent', 'agent.mounts': [`${home}:rw`] },
  });
  const register = (manifest: ToolManifest) => layer.ask('tools.register', { manifest }, LOCAL_CALLER);
  for (const manifest of Object.values(toolsFor(project))) await register(manifest);
  const { capability_token } = await layer.mintToken({
    agent_did: 'did:example:builder',
    paths: [project],
    mode: 'rw',
  });
  const call = (tool_id: string, parameters: object = {}, execution_options = {}) =>
    layer.invoke({ tool_id, parameters: { ...parameters }, capability_token, execution_options });
  const codeOf = async (...given: Parameters<typeof call>) => (await call(...given)).error?.e_code;

  story.step('A tool is one program with places for arguments');
  const counted = await call('count-words', { file: 'notes.txt' });
  story.holds('it runs in a sandbox and gives what it wrote', () => assert.equal(counted.result, '3 notes.txt\n'));
  const odd = await call('show-file', { file: 'notes.txt; cat ../private.txt' });
  story.holds('an argument that carries a command never gets there', () => assert.equal(odd.error?.e_code, 'E3505'));
  const star = await codeOf('show-file', { file: '*' });
  story.holds('no shell reads the others: this is a file that does not exist', () => assert.equal(star, 'E3108'));
  const open = await refusalOf(register(OPEN_DOOR));
  story.holds('a manifest that puts an argument into a script is not registered', () =>
    assert.match(open, /E3008.*puts a parameter into code/),
  );

  story.step('It sees its project, and nothing else');
  const outside = await call('show-file', { file: '../private.txt' });
  story.holds('a file beside the project is not there', () => {
    assert.equal(outside.error?.e_code, 'E3108');
    assert.doesNotMatch(JSON.stringify(outside), /not for tools/);
  });
  const touched = await codeOf('touch-file', { file: 'new.txt' });
  story.holds('what was granted for reading cannot be written', () => assert.equal(touched, 'E3108'));
  const routes = await call('count-routes');
  story.holds('without a granted address there is no network', () => assert.equal(routes.result, '0\n'));
  const { capability_token: bare } = await layer.mintToken({ agent_did: 'did:example:stranger' });
  const stranger = await layer.invoke({
    tool_id: 'show-file',
    parameters: { file: 'notes.txt' },
    capability_token: bare,
  });
  story.holds('a token without the folder opens nothing', () => assert.equal(stranger.error?.e_code, 'E3203'));

  story.step('It ends at its bounds, and some commands never begin');
  const endless = await codeOf('wait-for-ever');
  story.holds('at its time, with all that it started', () => assert.equal(endless, 'E3103'));
  const wiped = await call('tidy-up', { folder: '/' });
  story.holds('the screen stops what would wipe the machine, whoever asks', () =>
    assert.equal(wiped.error?.e_code, 'E3210'),
  );

  story.step('What fails half way is taken back');
  const renamed = await call('rename-word', { from: 'red', to: 'blue' });
  const afterwards = await readFile(notes, 'utf8');
  story.holds('a command that does well leaves its changes', () => {
    assert.equal(renamed.status, 'success', JSON.stringify(renamed));
    assert.equal(afterwards, 'one blue fox\n');
  });
  const broken = await call('rename-word', { from: 'blue', to: 'broken' });
  const restored = await readFile(notes, 'utf8');
  story.holds('one that fails leaves none', () => {
    assert.equal(broken.error?.details?.['rolled_back'], true, JSON.stringify(broken));
    assert.equal(restored, 'one blue fox\n');
  });

  story.step('A call sets the variables that the manifest names');
  const built = await call('build', {}, { environment: { TARGET: 'the moon' } });
  story.holds('for itself alone', () => assert.equal(built.result, 'apollo for the moon\n'));
  const again = await call('build');
  story.holds('the next call has the fixed ones', () => assert.equal(again.result, 'apollo for nobody\n'));
  for (const name of ['PROJECT', 'LD_PRELOAD', 'PATH', 'API_KEY']) {
    const refused = await codeOf('build', {}, { environment: { [name]: 'x' } });
    story.holds(`never ${name}`, () => assert.equal(refused, 'E3801'));
  }
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}

async function refusalOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (thrown) {
    const { code, failure } = thrown as { readonly code: string; readonly failure: object };
    return `${code} ${JSON.stringify(failure)}`;
  }
  return assert.fail('it was not refused');
}
