import { nextTick } from 'node:process';
import { type JSONRPCMessage, SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client';
import type { SandboxExit, SandboxProcess } from '@sallyport/sandbox';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import type { Log } from '../../telemetry/log.ts';
import { createFloodGate } from '../connection/pacing/flood-gate.ts';
import { createLineSplitter, type LineSplitter } from './line-splitter.ts';
import { keepTail } from './stderr-tail.ts';

/** Limits of one stdio connection. */
export const TRANSPORT_BOUNDS = {
  /** Longest message that is read; a longer one fails its request, and the connection continues. */
  lineBytesMax: 16 * MiB,
  /** Most input that may wait for a server that does not read; beyond that the server is stopped. */
  unreadInputBytesMax: 32 * MiB,
  /** An unfinished line longer than this stops the server. */
  endlessLineBytesMax: 128 * MiB,
  /** Bytes of the end of stderr kept for error messages. */
  stderrBytesKept: 8 * KiB,
  /** Most lines that are no messages in one window; beyond that the server is stopped. */
  rubbishLinesMax: 20_000,
  rubbishBytesMax: 64 * MiB,
  floodWindowMs: 10_000,
  /** Most such lines logged over the life of the connection. */
  rubbishLinesLogged: 5,
  /** From SIGTERM to SIGKILL. */
  closeGraceMs: 500,
} as const;

/** How the server's process ended, with the reason when this transport ended it. */
export interface SandboxTransportEnd {
  readonly exit: SandboxExit;
  readonly reason?: string;
  /** True when it ran until `close()` was called. */
  readonly closed: boolean;
}

/** An MCP transport over the stdin and stdout of a process that a sandbox driver started. */
export interface SandboxTransport extends Transport {
  /** Always null: by these members the SDK recognises a stdio transport, where silence means an older server. */
  readonly stderr: null;
  readonly pid: null;
  /** The end of the server's stderr, 8 KiB at most. */
  stderrTail(): string;
  /** Number of lines on stdout that were no messages. */
  rubbishLines(): number;
  /** Length of the line being delivered, in bytes. */
  messageBytes(): number;
  /** Called with the text of messages before they are delivered. */
  ontext?: (text: string) => void;
  /** Called with both ends of a message that was too long to read. */
  onlongline?: (head: string, tail: string, bytes: number) => void;
  /** Stops the server for misbehaving; the reason becomes part of `ended`. */
  fail(reason: string): void;
  /** True when it was stopped that way and will end soon. */
  hasFailed(): boolean;
  /** Resolves once no process of the server remains. Never rejects. */
  readonly ended: Promise<SandboxTransportEnd>;
}

/** What the transport needs beside the process. */
export interface SandboxTransportParts {
  readonly process: SandboxProcess;
  /** Name of the upstream, for the log. */
  readonly label: string;
  readonly log: Log;
  readonly clock: Clock;
}

const SENT = Promise.resolve();

/**
 * Speaks newline-delimited JSON-RPC with a started process and owns it: `close()` ends it and waits until it is gone.
 * Lines that are no messages are counted and ignored; only a flood of them ends the connection.
 */
export function createSandboxTransport(parts: SandboxTransportParts): SandboxTransport {
  const { process } = parts;
  const stderr = keepTail(process.stderr, TRANSPORT_BOUNDS.stderrBytesKept);
  const delivered = { bytes: 0 };
  let reason: string | undefined;
  let gone = false;
  let closed = false;
  let drained: Promise<void> | undefined;
  const lines = gatherLines(process.stdin);

  const fail = (why: string): void => {
    if (reason !== undefined || gone) return;
    reason = why;
    process.kill();
  };
  const rubbish = countRubbish(parts, fail);

  const transport: SandboxTransport = {
    stderr: null,
    pid: null,
    stderrTail: stderr.text,
    rubbishLines: rubbish.count,
    messageBytes: () => delivered.bytes,
    fail,
    hasFailed: () => reason !== undefined,
    ended: process.exited.then((exit) => {
      gone = true;
      stderr.stop();
      transport.onclose?.();
      return { exit, closed, ...(reason === undefined ? {} : { reason }) };
    }),
    async start() {
      process.stdout.on('data', (chunk: Buffer) => splitter.push(chunk));
      // A server that closed its output can never answer again.
      process.stdout.once('end', () => process.kill(TRANSPORT_BOUNDS.closeGraceMs));
      process.stdout.on('error', ignore);
      process.stdin.on('error', ignore);
    },
    send(message) {
      const { stdin } = process;
      if (gone || reason !== undefined || stdin.destroyed || stdin.writableEnded) {
        return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'The server is not running.'));
      }
      if (stdin.writableLength + lines.waiting() > TRANSPORT_BOUNDS.unreadInputBytesMax) {
        fail('it does not read its input');
        return Promise.reject(new SdkError(SdkErrorCode.NotConnected, 'The server does not read its input.'));
      }
      lines.add(`${JSON.stringify(message)}\n`);
      if (!stdin.writableNeedDrain) return SENT;
      // One promise for all writers that wait for room.
      drained ??= roomIn(stdin).then(() => {
        drained = undefined;
      });
      return drained;
    },
    async close() {
      closed ||= !gone && reason === undefined;
      lines.flush();
      process.stdin.end();
      process.kill(TRANSPORT_BOUNDS.closeGraceMs);
      await transport.ended;
    },
  };

  const splitter = splitMessages(transport, rubbish, delivered);
  return transport;
}

function splitMessages(
  transport: SandboxTransport,
  rubbish: ReturnType<typeof countRubbish>,
  delivered: { bytes: number },
): LineSplitter {
  const { lineBytesMax, endlessLineBytesMax } = TRANSPORT_BOUNDS;
  return createLineSplitter(lineBytesMax, endlessLineBytesMax, {
    onLine(line, bytes) {
      delivered.bytes = bytes;
      const messages = parseMessages(line);
      if (messages === undefined) return rubbish.add(line, bytes);
      transport.ontext?.(line);
      for (const message of messages) transport.onmessage?.(message);
    },
    onLongLine(head, tail, bytes) {
      rubbish.add(head, bytes);
      transport.onlongline?.(head, tail, bytes);
    },
    onEndlessLine: () => transport.fail('it writes a line without an end on its standard output'),
  });
}

/** Most characters held until the end of a tick. */
const GATHERED_MAX = 64 * KiB;

/** Writes the lines of one tick together: calls often start side by side, and each write is a system call. */
function gatherLines(stream: SandboxProcess['stdin']) {
  let gathered = '';
  const flush = (): void => {
    const lines = gathered;
    gathered = '';
    if (lines !== '' && stream.writable) stream.write(lines);
  };
  return {
    /** Characters that wait for the end of the tick. */
    waiting: () => gathered.length,
    add(line: string): void {
      if (gathered === '') nextTick(flush);
      gathered += line;
      // Only the stream counts bytes; this small buffer is counted in characters.
      if (gathered.length > GATHERED_MAX) flush();
    },
    flush,
  };
}

/** Resolves when the stream accepts more, or never will again. */
function roomIn(stream: SandboxProcess['stdin']): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      stream.off('drain', settle);
      stream.off('close', settle);
      resolve();
    };
    stream.once('drain', settle);
    stream.once('close', settle);
  });
}

/** The messages of a line (several in a batch of the older protocol), or undefined when it is none. */
function parseMessages(line: string): readonly JSONRPCMessage[] | undefined {
  // Banners and log lines are recognised by their first character, without the cost of an exception.
  const first = line.charCodeAt(0);
  if (first !== 0x7b && first !== 0x5b && first !== 0x20 && first !== 0x09) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const messages = Array.isArray(value) ? value : [value];
  return messages.length > 0 && messages.every(isMessage) ? messages : undefined;
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

function countRubbish({ label, log, clock }: SandboxTransportParts, fail: (reason: string) => void) {
  let count = 0;
  const gate = createFloodGate(clock, {
    itemsMax: TRANSPORT_BOUNDS.rubbishLinesMax,
    bytesMax: TRANSPORT_BOUNDS.rubbishBytesMax,
    windowMs: TRANSPORT_BOUNDS.floodWindowMs,
  });
  return {
    count: () => count,
    add(line: string, bytes: number): void {
      if (line.trim() === '') return;
      count += 1;
      if (count <= TRANSPORT_BOUNDS.rubbishLinesLogged) {
        // The text stays out of the log: a server may print secrets.
        log.warn('upstream-printed-rubbish', { upstream: label, bytes, lines: count });
      }
      if (!gate.admits(bytes)) fail('it floods its standard output with lines that are no MCP messages');
    },
  };
}

/** Stream errors after the process ended add nothing to `exited`. */
function ignore(): void {}
