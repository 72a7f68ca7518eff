import { describe, expect, test } from 'vitest';
import type { ToolView } from '../../api/schemas/visibility.ts';
import { resolveView, type TenantTools } from './resolve-view.ts';
import { mcpTool, tenantTools, toolVersion, toolView } from './tools.fixture.ts';

/** The shown tools as `name=tool id`, and the dropped tools as `tool id: reason`. */
function outcome(view: ToolView, tools: TenantTools) {
  const { entries, dropped } = resolveView(view, tools);
  return {
    shown: [...entries.values()].map(({ name, tool }) => `${name}=${tool.manifest.tool_id}`),
    dropped: dropped.map(({ tool, toolId, reason }) => `${toolId ?? tool}: ${reason}`),
  };
}

const two = tenantTools(
  mcpTool('gmail', 'send'),
  mcpTool('gmail', 'list'),
  mcpTool('smtp', 'send'),
  mcpTool('smtp', 'verify'),
  toolVersion('clock'),
);

describe('REG-13.1 allow and deny', () => {
  test.each([
    ['all of a source', {}, ['gmail__send', 'gmail__list']],
    ['allowed by name', { allow: ['send'] }, ['gmail__send']],
    ['allowed by pattern', { allow: ['s*'] }, ['gmail__send']],
    ['denied', { deny: ['l*t'] }, ['gmail__send']],
    ['deny wins', { allow: ['*'], deny: ['send'] }, ['gmail__list']],
    ['listed tools alone', { tools: [{ tool: 'list' }] }, ['gmail__list']],
    ['listed and allowed', { allow: ['send'], tools: [{ tool: 'list' }] }, ['gmail__send', 'gmail__list']],
    ['nothing', { allow: [] }, []],
  ])('%s', (_name, source, expected) => {
    const { entries } = resolveView(toolView([{ source: 'gmail', ...source }]), two);
    expect([...entries.keys()]).toEqual(expected);
  });

  test('a source gives only its own tools; local ones have the source local', () => {
    expect(outcome(toolView([{ source: 'local' }]), two).shown).toEqual(['clock=clock']);
    expect(outcome(toolView([{ source: 'gmai' }, { source: 'Gmail' }]), two).shown).toEqual([]);
  });
});

describe('REG-13 rules match server and tool, never a bare name', () => {
  test('REG-13.8 a tool of another server does not pass for one by its id', () => {
    const impostor = mcpTool('evil', 'send', 'gmail__send');
    const { shown, dropped } = outcome(
      toolView([{ source: 'gmail', tools: [{ tool: 'send' }] }]),
      tenantTools(impostor),
    );
    expect(shown).toEqual([]);
    expect(dropped).toEqual(['send: The source has no such tool that is available to the tenant.']);
  });

  test('REG-13.8 a name that only looks the same is another tool', () => {
    const cyrillic = mcpTool('gmail', 'sеnd', 'gmail__s_nd');
    const view = toolView([{ source: 'gmail', tools: [{ tool: 'send' }] }]);
    expect(outcome(view, tenantTools(cyrillic)).shown).toEqual([]);
    expect(outcome(toolView([{ source: 'gmail', deny: ['send'] }]), tenantTools(cyrillic)).shown).toEqual([
      'gmail__s_nd=gmail__s_nd',
    ]);
  });

  test('an upstream that is called local does not provide local tools', () => {
    const tools = tenantTools(mcpTool('local', 'clock'), toolVersion('clock'));
    expect(outcome(toolView([{ source: 'local' }]), tools).shown).toEqual(['clock=clock']);
  });

  test('REG-13.9 a pinned definition that changed leaves the view with the reason, though a pattern lets it in', () => {
    const [first] = two.tools;
    const pin = { tool: 'send', content_hash: first?.contentHash ?? '' };
    expect(outcome(toolView([{ source: 'gmail', tools: [pin] }]), two).shown).toEqual(['gmail__send=gmail__send']);
    const changed = toolVersion('gmail__send', {
      description: 'Sends, and tells others.',
      executor: { kind: 'mcp', config: { upstream: 'gmail', tool: 'send' } },
    });
    const { shown, dropped } = outcome(
      toolView([{ source: 'gmail', allow: ['*'], tools: [pin] }]),
      tenantTools(changed),
    );
    expect(shown).toEqual([]);
    expect(dropped).toEqual([
      `gmail__send: Its definition changed: the view pins ${pin.content_hash}, the tool has ${changed.contentHash} now.`,
    ]);
  });
});

describe('REG-13 conflict strategies', () => {
  const both: ToolView['sources'] = [{ source: 'smtp' }, { source: 'gmail' }];

  test('REG-13.4 prefix keeps the ids, so nothing meets', () => {
    const { shown, dropped } = outcome(toolView(both, 'prefix'), two);
    expect(shown).toEqual(['smtp__send', 'smtp__verify', 'gmail__send', 'gmail__list'].map((id) => `${id}=${id}`));
    expect(dropped).toEqual([]);
  });

  test('REG-13.5 REG-13.7 priority shows bare names; the earlier source wins and the other is dropped', () => {
    expect(outcome(toolView(both, 'priority'), two)).toEqual({
      shown: ['send=smtp__send', 'verify=smtp__verify', 'list=gmail__list'],
      dropped: ['gmail__send: send went to smtp__send.'],
    });
    expect(outcome(toolView([...both].reverse(), 'priority'), two).shown).toContain('send=gmail__send');
  });

  test('REG-13.6 manual gives a wanted name to nobody', () => {
    expect(outcome(toolView(both, 'manual'), two)).toEqual({
      shown: ['verify=smtp__verify', 'list=gmail__list'],
      dropped: [
        'smtp__send: send is wanted by smtp__send, gmail__send.',
        'gmail__send: send is wanted by smtp__send, gmail__send.',
      ],
    });
  });

  test('REG-13.7 a name that became free goes to no other tool of the view by itself', () => {
    const view = toolView(
      [
        { source: 'gmail', tools: [{ tool: 'send' }] },
        { source: 'smtp', deny: ['send'] },
      ],
      'priority',
    );
    const [, , ...withoutGmail] = two.tools;
    expect(outcome(view, tenantTools(...withoutGmail)).shown).toEqual(['verify=smtp__verify']);
  });
});

describe('REG-13 renames', () => {
  const renamed = (name: string, conflict: ToolView['conflict'] = 'prefix'): ToolView =>
    toolView([{ source: 'gmail', tools: [{ tool: 'send', name }] }], conflict);

  test('a tool is shown under the name that it was given', () => {
    expect(outcome(renamed('mail'), two).shown).toEqual(['mail=gmail__send']);
  });

  test.each(['prefix', 'priority', 'manual'] as const)(
    'REG-13.7 with %s no tool gets the id of another one, inside the view or outside',
    (conflict) => {
      for (const name of ['smtp__send', 'clock']) {
        expect(outcome(renamed(name, conflict), two)).toEqual({
          shown: [],
          dropped: [`gmail__send: ${name} is the id of another tool.`],
        });
      }
    },
  );

  test('a bare name that is the id of a tool outside the view is not given away', () => {
    const tools = tenantTools(mcpTool('gmail', 'clock'), toolVersion('clock'));
    expect(outcome(toolView([{ source: 'gmail' }], 'priority'), tools)).toEqual({
      shown: [],
      dropped: ['gmail__clock: clock is the id of another tool.'],
    });
    // When both tools are in the view, the conflict strategy decides.
    const view = toolView([{ source: 'local' }, { source: 'gmail' }], 'priority');
    expect(outcome(view, tools).shown).toEqual(['clock=clock']);
  });

  test('a bare name that no tool id may be is dropped with the reason', () => {
    const tools = tenantTools(mcpTool('up', '日本', 'up____'));
    expect(outcome(toolView([{ source: 'up' }], 'priority'), tools)).toEqual({
      shown: [],
      dropped: ['up____: "__" cannot be a tool id; give it a name.'],
    });
  });

  test('of a tool and one that was given its name, the tool keeps it', () => {
    const tools = tenantTools(mcpTool('gmail', 'a'), mcpTool('gmail', 'b'));
    const view = toolView([{ source: 'gmail', allow: ['*'], tools: [{ tool: 'a', name: 'b' }] }], 'priority');
    expect(outcome(view, tools)).toEqual({
      shown: ['b=gmail__b'],
      dropped: ['gmail__a: b went to gmail__b.'],
    });
  });
});

test('no view of random sources and names ever leads a name to a tool that lost it, or twice', () => {
  const tools = tenantTools(
    ...['a', 'b', 'c'].flatMap((source) => ['x', 'y', 'z'].map((name) => mcpTool(source, name))),
    toolVersion('x'),
  );
  let seed = 7;
  const pick = <T>(from: readonly T[]): T => {
    seed = (seed * 48_271) % 2_147_483_647;
    return from[seed % from.length] as T;
  };
  for (let round = 0; round < 500; round += 1) {
    const sources = ['a', 'b', 'c', 'local'].map((source) => ({
      source,
      allow: ['*'],
      tools: source === 'local' ? [] : [{ tool: pick(['x', 'y', 'z']), name: pick(['x', 'y', 'w', 'a__x', 'b__y']) }],
    }));
    const { entries, dropped } = resolveView(toolView(sources, pick(['prefix', 'priority', 'manual'])), tools);
    const lost = new Set(dropped.map(({ toolId }) => toolId));
    const shown = [...entries.values()].map(({ tool }) => tool.manifest.tool_id);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.filter((id) => lost.has(id))).toEqual([]);
    for (const [name, { tool }] of entries) if (name.includes('__')) expect(tool.manifest.tool_id).toBe(name);
    expect(shown.length + lost.size).toBe(10);
  }
});
