import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { MiB } from '@sallyport/std/bytes';
import { type WebSocket, WebSocketServer } from 'ws';
import type { FakePod } from './fake-pod.fixture.ts';

/** The API server's side of an exec stream. */
export interface FakeExecStream {
  readonly command: readonly string[];
  readonly socket: Duplex;
  /** All bytes received on stdin. */
  readonly input: Buffer[];
  send(channel: number, payload: Uint8Array): void;
  /** Sends the final status, and ends the stream. */
  finish(status: object): void;
}

const BYTES_MAX = 64 * MiB;

/** A request to upgrade to a WebSocket, as Node's server passes it. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Answers the upgrade and connects the stream with a program in a pod. */
export function serveExec(
  { request, socket, head }: UpgradeRequest,
  pod: FakePod,
  protocol: string,
  opened: (stream: FakeExecStream) => void,
): void {
  const server = new WebSocketServer({ noServer: true, maxPayload: BYTES_MAX, handleProtocols: () => protocol });
  server.handleUpgrade(request, socket, head, (line) => opened(streamOver(line, request, socket, pod)));
}

function streamOver(line: WebSocket, request: IncomingMessage, socket: Duplex, pod: FakePod): FakeExecStream {
  const command = new URL(request.url ?? '', 'https://x').searchParams.getAll('command');
  const stream: FakeExecStream = {
    command,
    socket,
    input: [],
    send: (channel, payload) => line.send(Buffer.concat([Buffer.of(channel), payload])),
    finish(status) {
      stream.send(3, Buffer.from(JSON.stringify(status)));
      line.close(1000);
    },
  };
  line.on('error', () => {});
  // Older servers announce each channel with an empty message.
  stream.send(1, Buffer.alloc(0));
  const program = pod.exec(command, {
    output: (channel, bytes) => stream.send(channel, bytes),
    exit: (code) => stream.finish(statusOf(code)),
  });
  line.on('message', (message) => {
    const payload = message as Buffer;
    if (payload[0] === 255 && payload[1] === 0) program.endInput();
    if (payload[0] !== 0) return;
    stream.input.push(payload.subarray(1));
    program.input(payload.subarray(1));
  });
  return stream;
}

/** A status in the kubelet's format. */
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
