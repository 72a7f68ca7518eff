import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToolbox } from '../../packages/sallyport/src/doors/toolbox/create-toolbox.ts';
import { createToolLayer } from '../../packages/sallyport/src/index.ts';
import type { ToolManifest } from '../../packages/sallyport/src/manifest.ts';
import { createStory } from '../first-call/story.ts';

const story = createStory();
const home = await mkdtemp(join(tmpdir(), 'sallyport-short-'));

const tool = (tool_id: string, description: string): ToolManifest => ({
  tool_id,
  tool_name: tool_id,
  version: '1.0.0',
  description,
  side_effect_policy: 'pure',
  parameters_schema: { type: 'object', additionalProperties: false },
  executor: { kind: 'native' },
});
const numbered = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n + 1)).join('\n');

const TESTS = `${numbered(400, (n) => (n === 217 ? 'not ok 217 - the door closes' : `ok ${n} - a step`))}\n# pass 399\n# fail 1`;
const INSTALLED = `${numbered(40, (n) => `fetched package-${n}`)}\npackage-7: warning: unmaintained\nadded 40 packages`;
const REPORT = numbered(3_000, (n) => `line ${n} of the report`);

try {
  await using layer = await createToolLayer({
    settings: {
      data_folder: join(home, 'data'),
      'log.level': 'silent',
      'calls.output_tokens_max': 500,
      'calls.output_filters_file': join(import.meta.dirname, 'output-filters.toml'),
    },
    outputFilters: [
      {
        id: 'numbers-only',
        matches: ({ toolId }) => toolId === 'measure',
        filter: (text) => {
          const values = text.match(/\d+(?= ms)/g);
          return values === null ? { text, confidence: 'fallback' } : { text: values.join(' '), confidence: 'full' };
        },
      },
    ],
  });
  await layer.registerFunction(tool('run-tests', 'Runs the tests.'), () => TESTS);
  await layer.registerFunction(tool('install', 'Installs packages.'), () => INSTALLED);
  await layer.registerFunction(tool('measure', 'Measures the start.'), () => 'run 1: 12 ms\nrun 2: 15 ms');
  await layer.registerFunction(tool('read-report', 'Reads the report.'), () => REPORT);
  const { capability_token } = await layer.mintToken({ agent_did: 'did:example:reader' });
  const call = (tool_id: string) => layer.invoke({ tool_id, parameters: {}, capability_token });
  const warned = (answer: Awaited<ReturnType<typeof call>>) => answer.warnings?.map(({ code }) => code);
  using box = createToolbox({ layer, token: capability_token });
  /** The whole text, page by page. */
  const wholeText = async (invocationId: string): Promise<string> => {
    let { text, next_offset: offset } = await box.readOverflow(invocationId);
    while (offset !== undefined) {
      const page = await box.readOverflow(invocationId, offset);
      text += page.text;
      offset = page.next_offset;
    }
    return text;
  };

  story.step('Output filters leave out lines that say nothing new');
  const tested = await call('run-tests');
  story.holds('of 400 tests a model reads the one that failed', () => {
    assert.equal(tested.result, 'not ok 217 - the door closes\n# pass 399\n# fail 1');
    assert.deepEqual(warned(tested), ['result_filtered']);
  });
  const installed = await call('install');
  story.holds('of an installation it reads the warning, and lines that the filter does not know', () =>
    assert.equal(installed.result, 'package-7: warning: unmaintained\nadded 40 packages'),
  );
  const measured = await call('measure');
  story.holds('a program has filters of its own', () => assert.equal(measured.result, '12 15'));

  story.step('A long result is cut at its budget');
  const report = await call('read-report');
  story.holds('a model gets the beginning, and where the rest is', () => {
    assert.deepEqual(warned(report), ['result_cut']);
    assert.partialDeepStrictEqual(report.result, {
      truncated: true,
      rest: { tool: 'read_overflow', arguments: { invocation_id: report.invocation_id } },
    });
  });

  story.step('Nothing is lost');
  const texts = [await wholeText(report.invocation_id), await wholeText(tested.invocation_id)];
  story.holds('the whole report and the whole test run are read in pages', () =>
    assert.deepEqual(texts, [REPORT, TESTS]),
  );
  const { capability_token: other } = await layer.mintToken({ agent_did: 'did:example:somebody-else' });
  using theirs = createToolbox({ layer, token: other });
  const refused = await theirs.readOverflow(report.invocation_id).catch((thrown) => thrown);
  story.holds('by their owner alone', () => assert.equal(refused.code, 'E3809'));
  console.log(`\nThe story holds: ${story.checks} checks.`);
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 10 });
}
