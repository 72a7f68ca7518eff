import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Peer } from '../../mcp-server.ts';
import type { TaskParts } from './task-parts.ts';
import { taskResult } from './task-result.ts';

test('API-03.10 OPS-03 a task that runs on where the layer stops is not answered with an empty result', async () => {
  const stop = new AbortController();
  const invocation = { invocation_id: 'task', status: 'running', state: 'EXECUTING', tool_id: 'slow', deferred: true };
  const ask = async (): Promise<unknown> => {
    stop.abort(new ToolLayerError('E3811', 'The layer stopped.'));
    return { event_id: 'e', changed: false, over: false, invocation };
  };
  const parts = { layer: { ask } as unknown as ToolLayer } as TaskParts;
  const peer: Peer = { era: 'legacy', caller: { door: 'mcp' }, signal: stop.signal, notify: () => {} };
  const params = { taskId: 'task' };
  const asked = taskResult(parts)({ kind: 'request', id: 1, method: 'tasks/result', params }, peer);
  await expect(asked).rejects.toMatchObject({ code: 'E3811' });
});
