import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { Multiplexer } from '../multiplexer.ts';
import { callTool } from './call-tool.ts';

test('REG-09 a call that is sent again after a question is checked again, and goes no further once its tool has changed', async () => {
  let sent = 0;
  const request = async () => {
    sent += 1;
    return { resultType: 'input_required', requestState: 'goes on' };
  };
  const mux = { request, questions: {} } as unknown as Multiplexer;
  let checks = 0;
  const beforeAgain = async (): Promise<void> => {
    checks += 1;
    if (checks === 2) throw new ToolLayerError('E3813', 'It was changed.');
  };
  await expect(callTool(mux, 'up', 'write', {}, { beforeAgain })).rejects.toMatchObject({ code: 'E3813' });
  expect([sent, checks]).toEqual([2, 2]);
});
