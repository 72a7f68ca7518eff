import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { expect, test } from 'vitest';
import type { Log } from '../../telemetry/log.ts';
import { manifest, pipeline } from '../pipeline.fixture.ts';

/** What the log has of one call whose tool throws, or for which something throws. */
async function logged(
  changes: Parameters<typeof pipeline>[0],
  body: () => unknown = () => 1,
  caller: Parameters<Awaited<ReturnType<typeof pipeline>>['call']>[1] = {},
) {
  const lines: object[] = [];
  const at = (level: string) => (event: string, fields?: object) => void lines.push({ level, event, ...fields });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const { add, call } = await pipeline({ log, ...changes });
  await add(manifest('tool'), body);
  const { invocationId: invocation_id } = await call({ tool_id: 'tool', parameters: { n: 1 } }, caller);
  return { lines, call: { invocation_id, tool_id: 'tool' } };
}

const broken = new Error('the disk is full');
const fault = (): never => {
  throw broken;
};

test('a fault of the layer is an error in its log, with its cause', async () => {
  const judge = { judge: fault } as never;
  const { lines, call } = await logged({ gate: judge });
  expect(lines).toEqual([{ level: 'error', event: 'call-failed', e_code: 'E3900', cause: broken, ...call }]);
});

test('an exception of a tool is a warning with its cause, and a refusal nothing that an operator has to read', async () => {
  const thrown = await logged({}, fault);
  expect(thrown.lines).toEqual([
    { level: 'warn', event: 'tool-threw', e_code: 'E3109', cause: broken, ...thrown.call },
  ]);
  const quota = { knownSpent: () => ({ failed: true, code: 'E3304', message: 'Spent.' }) } as never;
  const refused = await logged({ quota });
  expect(refused.lines).toEqual([{ level: 'debug', event: 'call-failed', e_code: 'E3304', ...refused.call }]);
  const unsupported = { executorOf: () => ({ failed: true, code: 'E3901', message: 'No executor runs it.' }) };
  const { parts } = await pipeline();
  const unfit = await logged({ executors: { ...parts.executors, ...unsupported } as never });
  expect(unfit.lines).toEqual([{ level: 'debug', event: 'call-failed', e_code: 'E3901', ...unfit.call }]);
  expect((await logged({})).lines).toEqual([]);
});

test('what a tool says of a failure that it expects stays out of warnings, and so does what a service did', async () => {
  for (const code of ['E3109', 'E3104'] as const) {
    const cause = code === 'E3109' ? 'its own words' : broken;
    const { lines, call } = await logged({}, () => {
      throw new ToolLayerError(code, 'Expected.', { cause });
    });
    expect(lines).toEqual([{ level: 'debug', event: 'call-failed', e_code: code, ...call }]);
  }
});

test('OPS-02 a failure in the log names the place in the trace of its caller', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const { lines } = await logged({}, fault, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  expect(lines).toMatchObject([{ event: 'tool-threw', trace_id: traceId }]);
});
