import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CliBench, createCliBench } from '../../run-cli.fixture.ts';

let bench: CliBench;
beforeEach(async () => {
  bench = await createCliBench();
});
afterEach(() => bench.remove());

const YAML = `name: mail
agents: [did:a]
conflict: priority
sources:
  - source: gmail
`;
const VIEW = { name: 'mail', agents: ['did:a'], conflict: 'priority', sources: [{ source: 'gmail' }] };
const DETAIL = {
  view: VIEW,
  changed_at: '',
  tools: [{ name: 'send', tool_id: 'gmail__send', version: '1.0.0', content_hash: '' }],
  dropped: [{ source: 'smtp', tool: 'send', reason: 'send went to gmail__send.' }],
};

test('views put reads a file and shows what became of the view; show says the same', async () => {
  bench.layer.answers.set('views.put', () => DETAIL);
  bench.layer.answers.set('views.get', () => DETAIL);
  await bench.file('mail.yaml', YAML);
  const put = await bench.run(['views', 'put', 'mail.yaml']);
  expect(put.code).toBe(0);
  expect(bench.layer.asked.at(-1)?.input).toEqual({ view: VIEW });
  expect(put.out).toMatch(/mail: 1 tools for did:a\nNAME +TOOL +VERSION\nsend +gmail__send +1\.0\.0/);
  expect(put.err).toContain('dropped send of smtp: send went to gmail__send.');
  expect(await bench.run(['views', 'show', 'mail'])).toEqual(put);
  expect(JSON.parse((await bench.run(['views', 'put', 'mail.yaml', '--json'])).out)).toEqual(DETAIL);
});

test('views put tells each fault with its place', async () => {
  bench.layer.answers.set('views.put', () => {
    const faults = [{ path: '/view/sources/0/source', code: 'E3801', keyword: 'source', message: 'No such source.' }];
    throw new ToolLayerError('E3801', 'The view was not taken.', { details: { faults } });
  });
  await bench.file('mail.yaml', YAML);
  const { code, err } = await bench.run(['views', 'put', 'mail.yaml']);
  expect(code).toBe(1);
  expect(err).toContain('/view/sources/0/source: No such source.');
  await bench.file('odd.json', '[1]');
  expect(await bench.run(['views', 'put', 'odd.json'])).toMatchObject({ code: 2 });
});

test('views list and remove', async () => {
  const view = { name: 'mail', agents: ['did:a', '*'], conflict: 'manual', tool_count: 3, dropped_count: 1 };
  bench.layer.answers.set('views.list', () => ({ views: [{ ...view, changed_at: '' }] }));
  bench.layer.answers.set('views.remove', ({ name }) => ({ name, removed: name === 'mail' }));
  expect((await bench.run(['views', 'list'])).out).toMatch(/mail +3 +1 +manual +did:a \*/);
  expect(await bench.run(['views', 'remove', 'mail'])).toMatchObject({ code: 0, out: 'Removed the view mail\n' });
  expect(await bench.run(['views', 'remove', 'none'])).toMatchObject({ code: 1 });
});
