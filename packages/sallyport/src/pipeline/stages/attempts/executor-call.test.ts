import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import { createCompositeExecutor } from '../../../executors/composite.ts';
import { createNativeExecutor } from '../../../executors/native/native-executor.ts';
import { manifest, pipeline } from '../../pipeline.fixture.ts';

test('AUD-01.7 EXE-03.6 PIPE-03.4 a run that its executor has taken back ends as rolled back, and is audited as such', async () => {
  const native = createNativeExecutor();
  const undoing = {
    ...native,
    async execute(call: Parameters<typeof native.execute>[0]): Promise<never> {
      if (call.parameters['n'] === 1) call.onRolledBack?.();
      throw new ToolLayerError('E3108', 'The tool failed.');
    },
  };
  const { add, call, eventsOf } = await pipeline({ executors: createCompositeExecutor([undoing]) });
  await add(manifest('undo'), () => 1);
  const taken = await call({ tool_id: 'undo', parameters: { n: 1 } });
  expect(taken).toMatchObject({ state: 'ROLLED_BACK', failure: { code: 'E3108' } });
  const [last] = (await eventsOf(taken.invocationId)).slice(-1);
  expect(last).toMatchObject({ type: 'ai.agent.tool.rolled_back', data: { state: 'ROLLED_BACK' } });
  const kept = await call({ tool_id: 'undo', parameters: { n: 2 } });
  expect(kept).toMatchObject({ state: 'FAILED', failure: { code: 'E3108' } });
});
