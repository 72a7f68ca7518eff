import type { ServerResponse } from 'node:http';
import { STREAM_HEADERS } from '../../http-answer.ts';

/** One stream of server-sent events. */
export interface EventStream {
  /** Sends a message; false when the client is too slow and the message was dropped. */
  send(text: string): boolean;
  /** Sends a message that must not be dropped, then ends. */
  end(last?: string): void;
  /** Sends a comment, so that no proxy takes the stream for dead. */
  keepAlive(): void;
  /** Calls back once the stream is closed by either end; at once when it is closed already. */
  onClose(listener: () => void): void;
}

/** A stream that is over. */
export const CLOSED_STREAM: EventStream = {
  send: () => false,
  end: () => {},
  keepAlive: () => {},
  onClose: (listener) => listener(),
};

/** Opens the stream: the head is sent at once. */
export function openEventStream(response: ServerResponse): EventStream {
  response.writeHead(200, [
    'content-type',
    'text/event-stream',
    // Proxies must not hold events back.
    'x-accel-buffering',
    'no',
    ...STREAM_HEADERS,
  ]);
  response.flushHeaders();
  const open = (): boolean => !response.writableEnded && !response.destroyed;
  return {
    send: (text) => {
      // The socket's own high-water mark bounds what waits for a slow client.
      if (!open() || response.writableNeedDrain) return false;
      response.write(eventOf(text));
      return true;
    },
    end: (last) => {
      if (open()) response.end(last === undefined ? undefined : eventOf(last));
    },
    keepAlive: () => {
      if (open() && !response.writableNeedDrain) response.write(':\n\n');
    },
    onClose: (listener) => {
      if (response.closed) listener();
      else response.once('close', listener);
    },
  };
}

function eventOf(text: string): string {
  return `event: message\ndata: ${text}\n\n`;
}
