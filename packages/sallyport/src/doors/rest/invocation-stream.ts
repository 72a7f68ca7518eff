import { isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createRecheck } from '@sallyport/std/recheck';
import type { FastifyInstance } from 'fastify';
import type { ToolWatchResponse } from '../../../api/schemas/invocation.ts';
import { createOpenRegister, holderIn } from '../../domain/principal/open-register.ts';
import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';
import { STREAM_HEADERS } from '../http-answer.ts';
import { callerOf } from './operation-routes.ts';
import type { RestSettings } from './settings.ts';

/**
 * Path of the stream of one call's states and progress; not an operation of its own, but repeated `invocations.watch`.
 */
export const STREAM_PATH = '/v1/invocations/:invocation_id/events';

/** Longest wait for news, in seconds; then a comment keeps the connection alive. */
const WAIT_SECONDS = 15;
/** Delay before an EventSource reconnects, in ms. */
const RETRY_MS = 2_000;
/** Most characters read of a Last-Event-ID. */
const EVENT_ID_MAX = 64;

type Settings = Pick<
  RestSettings,
  'streamsMax' | 'streamsPerHolderMax' | 'streamsPerTenantMax' | 'streamMs' | 'credentialLookMs'
>;

/**
 * The states and progress of one call as server-sent events (WHATWG HTML §9.2), for callers who may read its status. A
 * stream ends after the final state, after `streamMs`, when its credential ends, or when a newer stream of its holder
 * needs the room. A client that reconnects with Last-Event-ID gets only newer events. When no further event can come,
 * the answer is 204, and an EventSource stops reconnecting.
 */
export function addInvocationStream(
  app: FastifyInstance,
  layer: ToolLayer,
  settings: Settings,
  onStop: (listener: () => void) => void,
): void {
  const { streamsMax: max, streamsPerHolderMax: perHolderMax, streamsPerTenantMax: perTenantMax } = settings;
  const register = createOpenRegister('streams of calls', { max, perHolderMax, perTenantMax });
  const closing = new AbortController();
  // A stopping door waits for its answers: streams end by themselves.
  const credentials = createRecheck(settings.credentialLookMs);
  onStop(() => {
    closing.abort();
    credentials.close();
  });
  app.get(STREAM_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const { invocation_id } = request.params as { readonly invocation_id: string };
    const { signal, ...known } = callerOf(request.raw, reply.raw);
    const replaced = new AbortController();
    const ends = [closing.signal, replaced.signal, ...(signal === undefined ? [] : [signal])];
    const caller: Caller = { ...known, signal: AbortSignal.any(ends) };
    const given = request.headers['last-event-id'];
    const after = typeof given === 'string' && given !== '' ? given.slice(0, EVENT_ID_MAX) : undefined;
    // A caller who may not see the call gets the usual refusal, before a stream begins.
    const first = await layer.ask('invocations.watch', watch(invocation_id, after, 0), caller);
    if (first.over && !first.changed) {
      reply.hijack();
      reply.raw.writeHead(204, STREAM_HEADERS).end();
      return;
    }
    const inspect = () => layer.ask('tokens.inspect', {}, caller);
    const holder = holderIn(await inspect());
    const entry = register.add(holder, () => replaced.abort());
    if (isFailure(entry)) throw ToolLayerError.of(entry);
    reply.hijack();
    const watched = credentials.add(inspect, () => replaced.abort());
    try {
      reply.raw.writeHead(200, ['content-type', 'text/event-stream; charset=utf-8', ...STREAM_HEADERS]);
      await stream(layer, invocation_id, caller, reply.raw, first, settings.streamMs);
    } finally {
      watched[Symbol.dispose]();
      entry[Symbol.dispose]();
      reply.raw.end();
    }
  });
}

/** The target of a stream. */
interface Sink {
  write(text: string): boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  readonly destroyed: boolean;
}

async function stream(
  layer: ToolLayer,
  invocationId: string,
  caller: Caller,
  sink: Sink,
  first: ToolWatchResponse,
  streamMs: number,
): Promise<void> {
  const endsAt = performance.now() + streamMs;
  await write(sink, `retry: ${RETRY_MS}\n\n`);
  let seen = first;
  for (;;) {
    await write(sink, seen.changed ? eventOf(seen) : ': still the same\n\n');
    if (seen.over || sink.destroyed || caller.signal?.aborted === true || performance.now() >= endsAt) return;
    try {
      seen = await layer.ask('invocations.watch', watch(invocationId, seen.event_id, WAIT_SECONDS), caller);
    } catch (thrown) {
      // A credential may end, or the layer stop, while a stream is open: the client reconnects and gets the error then.
      if (thrown instanceof ToolLayerError) return;
      throw thrown;
    }
  }
}

const watch = (invocation_id: string, after: string | undefined, wait_seconds: number) => ({
  invocation_id,
  wait_seconds,
  ...(after === undefined ? {} : { after }),
});

/** JSON text has no line breaks, so the data is one line. */
function eventOf({ event_id, over, invocation }: ToolWatchResponse): string {
  return `id: ${event_id}\nevent: ${over ? 'end' : 'status'}\ndata: ${JSON.stringify(invocation)}\n\n`;
}

/** Waits for a slow reader: at most one event is held for it. */
async function write(sink: Sink, text: string): Promise<void> {
  if (sink.destroyed || sink.write(text)) return;
  await new Promise<void>((resolve) => {
    sink.once('drain', resolve);
    sink.once('close', resolve);
  });
}
