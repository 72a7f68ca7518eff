import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readWebhooks } from './read-webhooks.ts';

async function read(text?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-hooks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'hooks.toml');
  if (text !== undefined) await writeFile(path, text);
  return readWebhooks(path);
}
const LEAST = 'id = "a"\nat = "before"\nurl = "https://hooks.example/a"\nsecret = "KEY"\n';

test('a file names webhooks in their order; one that is absent names none', async () => {
  const more =
    'tools = ["mail__*"]\nside_effects = ["irreversible"]\nphases = ["executor"]\ntimeout_ms = 100\non_failure = "continue"\nsigned_answers = false\n';
  const [first, second] = await read(`[[webhook]]\n${LEAST}\n[[webhook]]\n${LEAST}${more}`);
  expect(first).toEqual({ id: 'a', at: 'before', url: 'https://hooks.example/a', secret: 'KEY', match: {} });
  expect(second).toMatchObject({
    match: { tools: ['mail__*'], sideEffects: ['irreversible'], phases: ['executor'] },
    timeoutMs: 100,
    failOpen: true,
    signedAnswers: false,
  });
  expect(await read()).toEqual([]);
  expect(await read('')).toEqual([]);
});

test.each([
  '[[webhook]]\nid = "a"\n',
  `[[webhook]]\n${LEAST}sekret = "x"\n`,
  `[[webhook]]\n${LEAST.replace('https://hooks.example/a', 'file:///etc/passwd')}`,
  `[[webhook]]\n${LEAST.replace('https://hooks.example/a', 'http://')}`,
  `[[webhook]]\n${LEAST}phases = ["night"]\n`,
  `[[webhook]]\n${LEAST}on_failure = "ignore"\n`,
  'hooks = []\n',
  '[[',
])('%j is refused', async (text) => {
  await expect(read(text)).rejects.toMatchObject({ code: 'E3801' });
});
