import { expect, test } from 'vitest';
import { callOf } from '../executor-call.fixture.ts';
import { createSkillExecutor } from './skill-executor.ts';

const config = { entry: 'SKILL.md', instructions: 'Do it.', files: [], scripts: [] };
const call = callOf({ tool_id: 'skill__pdf', executor: { kind: 'skill', config } });

test('a skill is owned and checked, and calling it is refused on both paths before anything happens', async () => {
  const executor = createSkillExecutor();
  expect(executor.owns(call.tool)).toBe(true);
  expect(executor.owns(callOf({ executor: { kind: 'native' } }).tool)).toBe(false);
  expect(executor.configFaults(call.tool.manifest)).toEqual([]);
  const { signal } = new AbortController();
  for (const path of ['execute', 'executeConfirmed'] as const) {
    await expect(executor[path](call, signal)).rejects.toMatchObject({
      code: 'E3901',
      message: expect.stringContaining('sallyport tools show skill__pdf'),
    });
  }
});

test('a skill without what its kind needs is refused with each place', () => {
  const { manifest } = callOf({ executor: { kind: 'skill', config: { ...config, entry: '', extra: 1 } } }).tool;
  expect(
    createSkillExecutor()
      .configFaults(manifest)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['/executor/config/entry', '/executor/config/extra']);
});
