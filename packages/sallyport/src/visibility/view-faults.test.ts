import { systemClock } from '@sallyport/std/clock';
import { expect, test } from 'vitest';
import type { ToolView } from '../../api/schemas/visibility.ts';
import { memoryVisibilityStore } from '../../test/stores/memory-visibility-store.ts';
import { silentLog } from '../telemetry/log.ts';
import { mcpTool, tenantTools, toolVersion, toolView } from './tools.fixture.ts';
import { FAULTS_MAX, type ViewChecks, viewFaults } from './view-faults.ts';
import { createVisibility } from './visibility.ts';

const tools = tenantTools(
  mcpTool('gmail', 'send'),
  mcpTool('gmail', 'list'),
  mcpTool('smtp', 'send'),
  toolVersion('clock'),
);
const checks = (more: Partial<ViewChecks> = {}): ViewChecks => ({
  ...tools,
  rules: undefined,
  argumentFaults: () => [],
  ...more,
});
const paths = (view: ToolView, more: Partial<ViewChecks> = {}): string[] =>
  viewFaults(view, checks(more)).map(({ path }) => path);

test('REG-13 a good view has no faults', () => {
  const pinned = tools.tools[0]?.contentHash ?? '';
  const view = toolView([
    { source: 'gmail', deny: ['list'], tools: [{ tool: 'send', name: 'mail', content_hash: pinned }] },
    { source: 'local', allow: ['c*'] },
  ]);
  expect(viewFaults(view, checks())).toEqual([]);
});

test('REG-13 every fault of a view is told at once, with its place', () => {
  const view: ToolView = {
    ...toolView([
      {
        source: 'gmail',
        deny: ['l*'],
        tools: [
          { tool: 'send', name: 'smtp__send', content_hash: 'a'.repeat(64) },
          { tool: 'list', name: 'same' },
          { tool: 'sеnd' },
          { tool: 'send' },
        ],
      },
      { source: 'smtp', tools: [{ tool: 'send', name: 'same', default_arguments: { to: 1 } }] },
      { source: 'smtp' },
      { source: 'gmial' },
    ]),
    agents: ['did:a', 'did:a'],
  };
  const argumentFaults: ViewChecks['argumentFaults'] = () => [
    { path: '/to', code: 'E3801', keyword: 'type', message: 'must be string' },
  ];
  const faults = viewFaults(view, checks({ argumentFaults }));
  expect(faults.map(({ path }) => path)).toEqual([
    '/agents/1',
    '/sources/0/tools/0/content_hash',
    '/sources/0/tools/0/name',
    '/sources/0/tools/1/tool',
    '/sources/0/tools/2/tool',
    '/sources/0/tools/3/tool',
    '/sources/1/tools/0/name',
    '/sources/1/tools/0/default_arguments/to',
    '/sources/2/source',
    '/sources/3/source',
  ]);
  for (const { message, hint } of faults) expect(message.length + (hint?.length ?? 1)).toBeGreaterThan(10);
});

test('REG-13.6 an unresolved conflict of manual is refused and names who wants the name', () => {
  const sources = [{ source: 'gmail' }, { source: 'smtp' }];
  const faults = viewFaults(toolView(sources, 'manual'), checks());
  expect(faults.map(({ path, keyword }) => [path, keyword])).toEqual([
    ['/sources/0', 'conflict'],
    ['/sources/1', 'conflict'],
  ]);
  expect(faults[0]?.message).toBe('gmail__send has no name: send is wanted by gmail__send, smtp__send.');
  expect(paths(toolView(sources, 'priority'))).toEqual([]);
  expect(paths(toolView([{ source: 'gmail' }, { source: 'smtp', deny: ['send'] }], 'manual'))).toEqual([]);
  const resolved = [{ source: 'gmail' }, { source: 'smtp', tools: [{ tool: 'send', name: 'post' }] }];
  expect(paths(toolView(resolved, 'manual'))).toEqual([]);
});

test.each(['prefix', 'priority', 'manual'] as const)(
  'REG-13 with %s no tool is given the id of another',
  (conflict) => {
    const view = toolView([{ source: 'gmail', tools: [{ tool: 'send', name: 'clock' }] }], conflict);
    expect(paths(view)).toEqual(['/sources/0/tools/0/name']);
    // A tool may be shown under its own id.
    const own = toolView([{ source: 'gmail', tools: [{ tool: 'send', name: 'gmail__send' }] }], conflict);
    expect(paths(own)).toEqual([]);
  },
);

test('REG-13 an agent that another view holds is refused; the view itself may be replaced', async () => {
  const visibility = createVisibility({ store: memoryVisibilityStore(), clock: systemClock, log: silentLog });
  await visibility.putView('acme', { ...toolView([{ source: 'gmail' }]), name: 'other', agents: ['did:a', '*'] });
  const rules = visibility.rulesOf('acme');
  const view = { ...toolView([{ source: 'gmail' }]), agents: ['did:b', 'did:a', '*'] };
  expect(paths(view, { rules })).toEqual(['/agents/1', '/agents/2']);
  expect(paths({ ...view, name: 'other' }, { rules })).toEqual([]);
});

test('default arguments and the number of faults have a bound', () => {
  const long = { tool: 'send', default_arguments: { text: 'x'.repeat(70_000) } };
  expect(paths(toolView([{ source: 'gmail', tools: [long] }]))).toEqual(['/sources/0/tools/0/default_arguments']);
  const wrong = Array.from({ length: FAULTS_MAX + 50 }, (_, i) => ({ tool: `none${i}` }));
  expect(paths(toolView([{ source: 'gmail', tools: wrong }]))).toHaveLength(FAULTS_MAX);
});
