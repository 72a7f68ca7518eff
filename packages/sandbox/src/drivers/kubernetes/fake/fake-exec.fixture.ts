import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { MiB } from '@sallyport/std/bytes';
import { createFrameReader, encodeFrame, OPCODES } from '../exec/frames.ts';
import type { FakePod } from './fake-pod.fixture.ts';

/** The API server's side of an exec stream. */
export interface FakeExecStream {
  readonly command: readonly string[];
  readonly socket: Duplex;
  /** Everything that came on stdin. */
  readonly input: Buffer[];
  send(channel: number, payload: Uint8Array): void;
  /** The last word, and the end. */
  finish(status: object): void;
}

const ACCEPT_KEY = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const BYTES_MAX = 64 * MiB;

/** Answers the upgrade and connects the stream with a program in a pod. */
export function serveExec(request: IncomingMessage, socket: Duplex, pod: FakePod, protocol: string): FakeExecStream {
  const key = String(request.headers['sec-websocket-key']);
  const accept = createHash('sha1').update(`${key}${ACCEPT_KEY}`).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write(
    [...lines, `Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${protocol}`, '', ''].join('\r\n'),
  );
  const command = new URL(request.url ?? '', 'https://x').searchParams.getAll('command');
  const write = (opcode: number, payload: Uint8Array): void => {
    if (socket.writable) socket.write(encodeFrame(opcode, payload, false));
  };
  const stream: FakeExecStream = {
    command,
    socket,
    input: [],
    send: (channel, payload) => write(OPCODES.binary, Buffer.concat([Buffer.of(channel), payload])),
    finish(status) {
      stream.send(3, Buffer.from(JSON.stringify(status)));
      write(OPCODES.close, Buffer.of(0x03, 0xe8));
      socket.end();
    },
  };
  // Old servers announce each channel with an empty message.
  stream.send(1, Buffer.alloc(0));
  const program = pod.exec(command, {
    output: (channel, bytes) => stream.send(channel, bytes),
    exit: (code) => stream.finish(statusOf(code)),
  });
  const reader = createFrameReader(BYTES_MAX);
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    for (const { opcode, payload } of reader.read(bytes)) {
      if (opcode === OPCODES.ping) write(OPCODES.pong, payload);
      if (opcode !== OPCODES.binary) continue;
      if (payload[0] === 255 && payload[1] === 0) program.endInput();
      if (payload[0] !== 0) continue;
      stream.input.push(payload.subarray(1));
      program.input(payload.subarray(1));
    }
  });
  return stream;
}

/** As the kubelet says it. */
function statusOf(code: number): object {
  if (code === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}
