import type { Gateway } from '../create-gateway.ts';
import type { EventStream } from './event-stream.ts';

/** The open streams on which changes of the tools are told. */
export interface Streams {
  /**
   * Keeps a stream until its client goes or the server closes.
   * @param toolsChanged message sent at each change; undefined for none
   * @param ending last message when the server closes
   */
  keep(stream: EventStream, gone: AbortSignal, toolsChanged: string | undefined, ending?: string): void;
  /** Whether no further stream may be kept. */
  readonly full: boolean;
  /** Ends every stream. */
  close(): void;
}

export function createStreams(gateway: Gateway): Streams {
  const { streamsMax, keepAliveMs } = gateway.settings;
  const open = new Map<EventStream, { toolsChanged: string | undefined; ending: string | undefined }>();
  const subscription = gateway.onToolsChanged(() => {
    for (const [stream, { toolsChanged }] of open) if (toolsChanged !== undefined) stream.send(toolsChanged);
  });
  const timer = setInterval(() => {
    for (const stream of open.keys()) stream.keepAlive();
  }, keepAliveMs);
  timer.unref();
  return {
    keep: (stream, gone, toolsChanged, ending) => {
      open.set(stream, { toolsChanged, ending });
      gone.addEventListener('abort', () => open.delete(stream), { once: true });
    },
    close: () => {
      clearInterval(timer);
      subscription[Symbol.dispose]();
      for (const [stream, { ending }] of open) stream.end(ending);
      open.clear();
    },
    get full() {
      return open.size >= streamsMax;
    },
  };
}
