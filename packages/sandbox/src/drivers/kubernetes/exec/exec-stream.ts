import { Readable, Writable } from 'node:stream';
import type { ApiClient } from '../api/api-client.ts';
import { collections, type Status } from '../api/objects.ts';
import { KUBERNETES_SIZES, type KubernetesBounds } from '../settings.ts';
import { openWebSocket, type WebSocketLine } from './web-socket.ts';

/** How a program in a pod ended, as far as the stream reports. */
export type ExecEnd =
  | { readonly code: number }
  /** The container runtime could not start it. */
  | { readonly refused: string }
  /** The stream broke without a report of the end; the program may still run. */
  | { readonly lost: string };

/** A program that runs in a pod. */
export interface ExecStream {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects. The outputs end with it. */
  readonly ended: Promise<ExecEnd>;
  /** Ends the stream, but not the program. */
  cut(): void;
}

/** What to run, and where. Everything in `command` is visible in the pod and in the cluster's audit log. */
export interface ExecRequest {
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
}

/** The subprotocol that can signal the end of stdin (KEP-3396); 255 is that signal. */
const PROTOCOL = 'v5.channel.k8s.io';
const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;

/**
 * Runs a program in a pod. One attempt: when the stream breaks, the program's effects are unknown.
 * @throws ApiFault
 */
export async function openExec(
  client: ApiClient,
  { pod, container, command }: ExecRequest,
  bounds: KubernetesBounds,
): Promise<ExecStream> {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', stderr: 'true', tty: 'false' });
  for (const word of command) query.append('command', word);
  const path = `${collections(client.namespace).pods}/${encodeURIComponent(pod)}/exec`;
  const { promise: ended, resolve } = Promise.withResolvers<ExecEnd>();
  const full = new Set<Readable>();
  let line: WebSocketLine | undefined;
  let end: ExecEnd | undefined;
  const output = (): Readable => {
    const stream: Readable = new Readable({
      highWaterMark: KUBERNETES_SIZES.outputBufferBytes,
      read() {
        if (full.delete(stream) && full.size === 0) line?.resume();
      },
    });
    stream.on('error', ignore);
    // Nobody reads any more: data is discarded, so that the end is still noticed.
    stream.once('close', () => stream.destroyed && full.delete(stream) && full.size === 0 && line?.resume());
    return stream;
  };
  // Before the line: an answer may bring the end of the stream with it.
  const stdin = inputOver((message, sent) => (line === undefined ? sent() : line.send(message, sent)));
  const stdout = output();
  const stderr = output();
  const push = (stream: Readable, bytes: Buffer): void => {
    if (bytes.length === 0 || stream.destroyed || stream.readableEnded || stream.push(bytes)) return;
    full.add(stream);
    line?.pause();
  };
  line = await openWebSocket(client, { path, query, protocol: PROTOCOL }, bounds, {
    message(bytes) {
      const payload = bytes.subarray(1);
      if (bytes[0] === CHANNELS.stdout) push(stdout, payload);
      else if (bytes[0] === CHANNELS.stderr) push(stderr, payload);
      else if (bytes[0] === CHANNELS.status && payload.length > 0) end = endOf(payload);
    },
    end(why) {
      stdin.destroy();
      if (end !== undefined && 'refused' in end) push(stderr, Buffer.from(`${end.refused}\n`));
      for (const stream of [stdout, stderr]) if (!stream.destroyed) stream.push(null);
      resolve(end ?? { lost: why ?? 'the stream was closed without a status' });
    },
  });
  return { stdin, stdout, stderr, ended, cut: line.cut };
}

function inputOver(send: (message: Uint8Array, sent: () => void) => void): Writable {
  const stdin = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < chunk.length; at += KUBERNETES_SIZES.inputPieceBytes) {
        pieces.push(chunk.subarray(at, at + KUBERNETES_SIZES.inputPieceBytes));
      }
      const next = (): void => {
        const piece = pieces.shift();
        if (piece === undefined) done();
        else send(Buffer.concat([Buffer.of(CHANNELS.stdin), piece]), next);
      };
      next();
    },
    final(done) {
      send(Buffer.of(CHANNELS.close, CHANNELS.stdin), done);
    },
  });
  stdin.on('error', ignore);
  return stdin;
}

/**
 * The last message of the stream is a Status (`remotecommand` of Kubernetes): success, an exit code, or why it did not
 * start.
 */
function endOf(payload: Buffer): ExecEnd {
  let status: Status;
  try {
    status = JSON.parse(payload.toString('utf8')) as Status;
  } catch {
    return { lost: 'the status of the program cannot be read' };
  }
  if (status.status === 'Success') return { code: 0 };
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code !== undefined && /^\d{1,3}$/.test(code)) return { code: Number(code) };
  return { refused: status.message ?? 'the container runtime gave no reason' };
}

/** A broken stream is reported by `ended`. */
function ignore(): void {}
