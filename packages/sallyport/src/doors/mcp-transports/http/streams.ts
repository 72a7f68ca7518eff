import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createRecheck } from '@sallyport/std/recheck';
import { createOpenRegister, type Holder } from '../../../domain/principal/open-register.ts';
import type { TransportSettings } from '../settings.ts';
import type { EventStream } from './event-stream.ts';

/** Room for one stream; released when the stream ends, or by disposing of the place before a stream exists. */
export interface StreamPlace extends Disposable {
  /**
   * Keeps a stream until the client or the layer closes it. The layer closes it when the stream's credential is no
   * longer valid.
   * @param inspect rejects when the credential is no longer valid
   * @param release called once the stream is closed
   * @param ending last message when the layer ends the stream
   */
  keep(stream: EventStream, inspect: () => Promise<unknown>, release: () => void, ending?: string): void;
}

/** The open streams that carry notifications of changes. */
export interface Streams {
  /**
   * Reserves room for one more stream. At a limit, the holder's own oldest stream ends.
   * @throws ToolLayerError E3803 when there is no room
   */
  take(holder: Holder): StreamPlace;
  /** Ends every stream. */
  close(): void;
}

type Settings = Pick<
  TransportSettings,
  'streamsMax' | 'streamsPerHolderMax' | 'streamsPerTenantMax' | 'keepAliveMs' | 'credentialLookMs'
>;

export function createStreams({
  streamsMax,
  streamsPerHolderMax,
  streamsPerTenantMax,
  keepAliveMs,
  credentialLookMs,
}: Settings): Streams {
  const bounds = { max: streamsMax, perHolderMax: streamsPerHolderMax, perTenantMax: streamsPerTenantMax };
  const register = createOpenRegister('notification streams', bounds);
  const open = new Map<EventStream, string | undefined>();
  const credentials = createRecheck(credentialLookMs);
  const timer = setInterval(() => {
    for (const stream of open.keys()) stream.keepAlive();
  }, keepAliveMs);
  timer.unref();
  return {
    take: (holder) => {
      let end: (() => void) | undefined;
      let isOver = false;
      const entry = register.add(holder, () => {
        isOver = true;
        end?.();
      });
      if (isFailure(entry)) throw ToolLayerError.of(entry);
      return {
        keep: (stream, inspect, release, ending) => {
          open.set(stream, ending);
          end = () => stream.end(ending);
          const watched = credentials.add(inspect, end);
          stream.onClose(() => {
            open.delete(stream);
            watched[Symbol.dispose]();
            entry[Symbol.dispose]();
            release();
          });
          // A newer stream of the same holder may have taken the room before this stream began.
          if (isOver) end();
        },
        [Symbol.dispose]: () => entry[Symbol.dispose](),
      };
    },
    close: () => {
      clearInterval(timer);
      credentials.close();
      for (const [stream, ending] of open) stream.end(ending);
    },
  };
}
