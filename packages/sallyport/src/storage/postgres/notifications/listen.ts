import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@sallyport/std/error/message-of';
import type { Client } from 'pg';
import type { Log } from '../../../telemetry/log.ts';

/** Default pause before the first new attempt, in ms; it doubles up to the longest. */
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;

/** What is listened to, and over which connection. */
export interface ListenOptions {
  /** Name of the channel, without quotation marks. */
  readonly channel: string;
  /** A new connection that is not connected yet, with limits on its times. */
  readonly connect: () => Client;
  readonly notified: (payload: string) => void;
  /** Called when it listens again after a loss: notifications in between are lost. */
  readonly again: () => void;
  readonly log: Log;
  /** Pause before the first new attempt, in ms; default 1000. */
  readonly retryMs?: number;
}

/**
 * Listens to the notifications of one channel over a connection of its own, and connects again when that is lost.
 * Resolves after the first attempt, which may have failed: that is logged once per outage, and tried again.
 */
export async function listen(options: ListenOptions): Promise<AsyncDisposable> {
  const closing = new AbortController();
  const { promise: attempted, resolve: onAttempted } = Promise.withResolvers<void>();
  const keeping = keep(options, closing.signal, onAttempted);
  await attempted;
  return {
    async [Symbol.asyncDispose]() {
      closing.abort();
      await keeping;
    },
  };
}

async function keep(options: ListenOptions, closed: AbortSignal, onAttempted: () => void): Promise<void> {
  const { again, log, retryMs = RETRY_MS } = options;
  let pauseMs = retryMs;
  let isLost = false;
  while (!closed.aborted) {
    const reason = await listenOnce(options, closed, () => {
      if (isLost) again();
      isLost = false;
      pauseMs = retryMs;
      onAttempted();
    });
    if (closed.aborted) return;
    if (!isLost) log.warn('notifications-not-listened-to', { channel: options.channel, reason });
    isLost = true;
    onAttempted();
    await sleep(pauseMs, undefined, { signal: closed, ref: false }).catch(() => undefined);
    pauseMs = Math.min(2 * pauseMs, RETRY_MS_MAX);
  }
}

/** Resolves with the reason why it ended; never rejects. */
async function listenOnce(
  { channel, connect, notified }: ListenOptions,
  closed: AbortSignal,
  onListening: () => void,
): Promise<string> {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const onClose = (): void => end('closed');
  closed.addEventListener('abort', onClose);
  let client: Client | undefined;
  try {
    client = connect();
    // Also when the server ends the connection.
    client.on('error', ({ message }) => end(message));
    client.on('notification', ({ payload = '' }) => notified(payload));
    await client.connect();
    await client.query(`listen "${channel}"`);
    onListening();
    return await ended;
  } catch (thrown) {
    return messageOf(thrown);
  } finally {
    closed.removeEventListener('abort', onClose);
    // Without a goodbye, which a server that hangs never answers.
    client?.connection.stream.destroy();
  }
}
