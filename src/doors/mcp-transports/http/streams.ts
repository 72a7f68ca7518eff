import type { TransportSettings } from '../settings.ts';
import type { EventStream } from './event-stream.ts';

/** The open streams on which changes are told. */
export interface Streams {
  /**
   * Keeps a stream until it closes, whoever closes it.
   * @param release called once it is closed
   * @param ending last message when the server closes
   */
  keep(stream: EventStream, release: () => void, ending?: string): void;
  /** Whether no further stream may be kept. */
  readonly full: boolean;
  /** Ends every stream. */
  close(): void;
}

export function createStreams({
  streamsMax,
  keepAliveMs,
}: Pick<TransportSettings, 'streamsMax' | 'keepAliveMs'>): Streams {
  const open = new Map<EventStream, string | undefined>();
  const timer = setInterval(() => {
    for (const stream of open.keys()) stream.keepAlive();
  }, keepAliveMs);
  timer.unref();
  return {
    keep: (stream, release, ending) => {
      open.set(stream, ending);
      stream.onClose(() => {
        open.delete(stream);
        release();
      });
    },
    close: () => {
      clearInterval(timer);
      for (const [stream, ending] of open) stream.end(ending);
    },
    get full() {
      return open.size >= streamsMax;
    },
  };
}
