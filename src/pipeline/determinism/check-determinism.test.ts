import { describe, expect, test } from 'vitest';
import { manifest, pipeline } from '../pipeline.fixture.ts';
import { createOutputMemory } from './output-memory.ts';

describe('a tool that says it is deterministic', () => {
  test('PIPE-10 and gives another result for the same input is reported, as a warning and an event', async () => {
    const { add, call, eventsOf } = await pipeline({ outputs: createOutputMemory() });
    let answer = 1;
    await add(manifest('same', { deterministic: true }), () => ({ answer }));
    const first = await call({ tool_id: 'same', parameters: { n: 1 } });
    expect((await call({ tool_id: 'same', parameters: { n: 1 } })).warnings).toEqual([]);
    answer = 2;
    expect((await call({ tool_id: 'same', parameters: { n: 2 } })).warnings).toEqual([]);
    const broken = await call({ tool_id: 'same', parameters: { n: 1 } });
    expect(broken).toMatchObject({
      state: 'COMPLETED',
      warnings: [{ code: 'not_deterministic', details: { earlier_invocation_id: first.invocationId } }],
    });
    const [event] = (await eventsOf(broken.invocationId)).filter(
      ({ type }) => type === 'ai.agent.tool.determinism_broken',
    );
    expect(event?.data).toMatchObject({
      tool_id: 'same',
      input_hash: first.inputHash,
      earlier_output_hash: first.outputHash,
      output_hash: broken.outputHash,
    });
  });

  test('one that says nothing, or another definition of it, is not compared', async () => {
    const { add, call } = await pipeline({ outputs: createOutputMemory() });
    let answer = 0;
    const run = () => {
      answer += 1;
      return { answer };
    };
    await add(manifest('silent'), run);
    await add(manifest('same', { deterministic: true }), run);
    await add(manifest('same', { deterministic: true, version: '1.0.1' }), run);
    for (const request of [
      { tool_id: 'silent' },
      { tool_id: 'silent' },
      { tool_id: 'same', tool_version: '1.0.0' },
      { tool_id: 'same', tool_version: '1.0.1' },
    ]) {
      const { warnings } = await call({ ...request, parameters: { n: 1 } });
      expect(warnings.map(({ code }) => code)).not.toContain('not_deterministic');
    }
  });
});

test('the memory of outputs has its bounds, and forgets what was not asked for longest', () => {
  const memory = createOutputMemory({ toolsMax: 2, inputsPerToolMax: 2 });
  const seen = (tool: string, input: string) =>
    memory.seen(tool, input, { outputHash: `${tool}${input}`, invocationId: 'i' }) !== undefined;
  expect([seen('t', 'a'), seen('t', 'b'), seen('t', 'a'), seen('t', 'c')]).toEqual([false, false, true, false]);
  expect([seen('t', 'a'), seen('t', 'b')]).toEqual([true, false]);
  expect([seen('u', 'a'), seen('t', 'b'), seen('v', 'a'), seen('t', 'b'), seen('u', 'a')]).toEqual([
    false,
    true,
    false,
    true,
    false,
  ]);
});
