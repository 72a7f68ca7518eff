import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { silentLog } from '../../../telemetry/log.ts';
import { createLayerDouble, manifestOf } from '../../tool-layer.fixture.ts';
import { openTestGateway } from '../doors.fixture.ts';
import { serveStdio } from './serve-stdio.ts';

const odd = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>;
const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant<unknown>('2.0') }, odd),
    id: fc.oneof(fc.integer(), fc.string(), odd),
    method: fc.oneof(fc.constantFrom('tools/call', 'initialize', 'notifications/cancelled', 'logging/setLevel'), odd),
    params: fc.oneof(
      odd,
      fc.record({ name: fc.constant('greet'), requestId: odd, level: odd, _meta: odd }, { requiredKeys: [] }),
    ),
    result: odd,
  },
  { requiredKeys: [] },
);
const line = fc.oneof(
  message.map((sent) => JSON.stringify(sent)),
  fc.string({ maxLength: 200 }).map((sent) => sent.replaceAll(/[\r\n]/g, ' ')),
  fc.constantFrom('', '[', '{"jsonrpc":"2.0"', '\u0000', '[]'),
);

it('API-03 whatever lines a client writes, it reads messages of JSON-RPC alone, and its next request is answered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      const layer = createLayerDouble();
      layer.addTool(manifestOf('greet'), () => 'hello');
      const gateway = openTestGateway(layer);
      const [input, output] = [new PassThrough(), new PassThrough()];
      const read = text(output);
      const served = serveStdio({
        server: gateway.serverIn(),
        log: silentLog,
        input,
        output,
        caller: { door: 'mcp', token: 'agent' },
        signal: new AbortController().signal,
      });
      for (const each of lines) input.write(`${each}\n`);
      input.end(`${JSON.stringify({ jsonrpc: '2.0', id: 'the last', method: 'ping' })}\n`);
      await served;
      output.end();
      gateway.close();
      const answers = (await read)
        .split('\n')
        .filter(Boolean)
        .map((each) => JSON.parse(each) as Record<string, unknown>);
      for (const { jsonrpc } of answers) expect(jsonrpc).toBe('2.0');
      expect(answers).toContainEqual({ jsonrpc: '2.0', id: 'the last', result: {} });
    }),
    { numRuns: 100 },
  );
});
