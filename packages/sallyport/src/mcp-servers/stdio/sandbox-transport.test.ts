import { PassThrough } from 'node:stream';
import type { SandboxExit, SandboxProcess } from '@sallyport/sandbox';
import { KiB, MiB } from '@sallyport/std/bytes';
import { expect, test } from 'vitest';
import { silentLog } from '../../telemetry/log.ts';
import { createSandboxTransport, TRANSPORT_BOUNDS } from './sandbox-transport.ts';

/** A process made of streams; the test reads and writes their other ends. */
function connected(clock = { now: () => 0, monotonic: () => 0 }) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  const { promise: exited, resolve } = Promise.withResolvers<SandboxExit>();
  const kills: number[] = [];
  const end = (exit: Partial<SandboxExit> = { code: 0 }) => resolve({ cpuMs: 0, memoryPeakMb: 0, ...exit });
  const process: SandboxProcess = {
    ...streams,
    exited,
    kill(graceMs = 0) {
      kills.push(graceMs);
      end({ signal: 'SIGTERM' });
    },
    async [Symbol.asyncDispose]() {},
  };
  const logged: unknown[] = [];
  const log = { ...silentLog, warn: (event: string, fields?: object) => logged.push({ event, ...fields }) };
  const transport = createSandboxTransport({ process, label: 'demo', log, clock });
  const received: unknown[] = [];
  transport.onmessage = (message) => void received.push(message);
  return { transport, received, kills, logged, end, ...streams };
}

const flushed = () => new Promise((resolve) => setImmediate(resolve));

test('messages are lines in both directions, one for each member of a batch', async () => {
  const { transport, received, stdin, stdout } = connected();
  await transport.start();
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'two\nlines' } });
  await flushed();
  expect(String(stdin.read())).toBe('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"two\\nlines"}}\n');
  stdout.write(
    '{"jsonrpc":"2.0","id":1,"result":{}}\r\n[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","method":"m"}]\n',
  );
  await flushed();
  expect(received).toHaveLength(3);
  await transport.close();
});

test('messages that are sent side by side leave in one write, and closing leaves none behind', async () => {
  const { transport, stdin } = connected();
  const written: string[] = [];
  stdin.on('data', (chunk) => written.push(String(chunk)));
  await transport.start();
  const send = (id: number) => transport.send({ jsonrpc: '2.0', id, method: 'ping' });
  await Promise.all([send(1), send(2)]);
  await flushed();
  void send(3);
  await transport.close();
  await flushed();
  const line = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  expect(written).toEqual([line(1) + line(2), line(3)]);
});

test('lines that are no messages are counted, a few are logged without their text, and messages go on', async () => {
  const { transport, received, stdout, logged } = connected();
  await transport.start();
  const rubbish = [
    'hello',
    '{"jsonrpc":"2.0"',
    '{}',
    '[]',
    '[1]',
    '"x"',
    'null',
    '{"jsonrpc":"1.0"}',
    '\u0000',
    'secret-text',
  ];
  stdout.write(`${rubbish.join('\n')}\n\n  \n{"jsonrpc":"2.0","method":"m"}\n`);
  await flushed();
  expect(transport.rubbishLines()).toBe(rubbish.length);
  expect(received).toEqual([{ jsonrpc: '2.0', method: 'm' }]);
  expect(logged).toHaveLength(TRANSPORT_BOUNDS.rubbishLinesLogged);
  expect(JSON.stringify(logged)).not.toContain('hello');
  await transport.close();
});

test('as much rubbish as the bound is borne in one window, and one line more ends the server', async () => {
  let now = 0;
  const { transport, stdout, kills } = connected({ now: () => 0, monotonic: () => now });
  await transport.start();
  const lines = async (count: number) => {
    stdout.write('x\n'.repeat(count));
    await flushed();
  };
  await lines(TRANSPORT_BOUNDS.rubbishLinesMax);
  now = TRANSPORT_BOUNDS.floodWindowMs + 1;
  await lines(TRANSPORT_BOUNDS.rubbishLinesMax);
  expect(kills).toEqual([]);
  await lines(1);
  expect(kills).toEqual([0]);
  expect((await transport.ended).reason).toContain('floods its standard output');
});

test('a server that does not read its input is stopped instead of filling memory, and senders are told', async () => {
  const { transport, kills } = connected();
  await transport.start();
  const block = 'x'.repeat(4 * MiB);
  const sends: Promise<void>[] = [];
  const send = () => transport.send({ jsonrpc: '2.0', method: 'm', params: { block } });
  for (let sent = 0; sent < TRANSPORT_BOUNDS.unreadInputBytesMax; sent += block.length) sends.push(send());
  await expect(send()).rejects.toThrow('does not read its input');
  expect(kills).toEqual([0]);
  expect(await transport.ended).toMatchObject({ reason: 'it does not read its input', closed: false });
  await expect(send()).rejects.toThrow('not running');
});

test('the end of the process closes the transport once and keeps the last of stderr', async () => {
  const { transport, stderr, end } = connected();
  let closes = 0;
  transport.onclose = () => {
    closes += 1;
  };
  await transport.start();
  stderr.write(`${'a'.repeat(20 * KiB)}`);
  stderr.write('the end');
  await flushed();
  end({ code: 7 });
  expect(await transport.ended).toMatchObject({ exit: { code: 7 }, closed: false });
  await transport.close();
  expect(closes).toBe(1);
  expect(transport.stderrTail()).toHaveLength(TRANSPORT_BOUNDS.stderrBytesKept);
  expect(transport.stderrTail().endsWith('athe end')).toBe(true);
});

test('closing ends the input, asks the server to end, and waits for it', async () => {
  const { transport, stdin, kills } = connected();
  await transport.start();
  await transport.close();
  expect(stdin.writableEnded).toBe(true);
  expect(kills).toEqual([TRANSPORT_BOUNDS.closeGraceMs]);
  expect((await transport.ended).closed).toBe(true);
});
