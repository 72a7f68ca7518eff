import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { KUBERNETES_SIZES, type KubernetesBounds } from '../settings.ts';
import type { ApiClient } from './api-client.ts';
import { ApiFault, isPassing, isStatus } from './api-fault.ts';
import type { KubeObject, Status } from './objects.ts';

/** What to wait for. */
export interface Waiting<Kind extends KubeObject, Result> {
  /** Path of the collection. */
  readonly collection: string;
  readonly name: string;
  /** The known object; requested when absent. */
  readonly from?: Kind;
  /** The result once it is there; undefined to continue waiting. May throw to give up. */
  readonly until: (object: Kind) => Result | undefined;
  /** By `performance.now()`. */
  readonly deadlineAt: number;
  /** Made when the deadline passes. */
  readonly late: (seen: Kind | undefined) => Error;
  /** The result when the object is deleted; default: an `ApiFault` with status 404. */
  readonly gone?: () => Result;
}

/**
 * Waits until an object of the API server is as wanted. It is requested once and then watched from that version. A
 * dropped watch is resumed from the last version (bookmarks count); after an expired version (410) or silence the
 * object is requested again. The deadline applies whatever the API server does.
 */
export async function watchObject<Kind extends KubeObject, Result>(
  client: ApiClient,
  waiting: Waiting<Kind, Result>,
  bounds: KubernetesBounds,
): Promise<Result> {
  const { collection, name, until, deadlineAt, late, gone } = waiting;
  let seen = waiting.from;
  let version = seen?.metadata?.resourceVersion;
  let pauseMs = 0;
  const take = (object: Kind): Result | undefined => {
    seen = object;
    version = object.metadata?.resourceVersion;
    return until(object);
  };
  let result = seen === undefined ? undefined : until(seen);
  while (result === undefined) {
    const leftMs = deadlineAt - performance.now();
    if (leftMs <= 0) throw late(seen);
    try {
      if (version === undefined)
        result = take(await client.once<Kind>({ method: 'GET', path: `${collection}/${name}` }));
      if (result !== undefined) return result;
      const quietMs = Math.min(bounds.watchQuietMs, leftMs);
      const next = await follow(client, { collection, name, version: version ?? '', quietMs, leftMs }, take);
      pauseMs = next.moved ? 0 : pauseMs;
      version = next.version;
      result = next.result as Result | undefined;
    } catch (error) {
      if (isStatus(error, 404) && gone !== undefined) return gone();
      if (isStatus(error, 410)) version = undefined;
      else if (!isPassing(error)) throw error;
    }
    if (result === undefined) {
      await sleep(Math.min(pauseMs, Math.max(0, deadlineAt - performance.now())));
      pauseMs = Math.min(bounds.watchPauseMaxMs, pauseMs * 2 + bounds.retryPauseMs);
    }
  }
  return result;
}

interface Followed<Result> {
  readonly result?: Result;
  /** Where to resume; undefined: with the object itself. */
  readonly version: string | undefined;
  /** True when anything arrived. */
  readonly moved: boolean;
}

interface Follow {
  readonly collection: string;
  readonly name: string;
  readonly version: string;
  readonly quietMs: number;
  readonly leftMs: number;
}

/** One watch, to its end. */
async function follow<Kind extends KubeObject, Result>(
  client: ApiClient,
  { collection, name, version, quietMs, leftMs }: Follow,
  take: (object: Kind) => Result | undefined,
): Promise<Followed<Result>> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), quietMs);
  const query = {
    watch: '1',
    allowWatchBookmarks: 'true',
    fieldSelector: `metadata.name=${name}`,
    resourceVersion: version,
    timeoutSeconds: String(Math.max(1, Math.ceil(leftMs / 1000))),
  };
  let last: string | undefined = version;
  let moved = false;
  try {
    const answer = await client.stream(collection, query, silence.signal);
    for await (const line of linesOf(answer)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), quietMs);
      moved = true;
      const { type, object } = eventOf<Kind>(line);
      if (type === 'BOOKMARK') {
        last = object.metadata?.resourceVersion ?? last;
      } else if (type === 'DELETED') {
        throw new ApiFault(`${name} was deleted`, { status: 404 });
      } else if (type === 'ERROR') {
        throw faultOf(object as Status);
      } else {
        const result = take(object);
        last = object.metadata?.resourceVersion;
        if (result !== undefined) return { result, version: last, moved };
      }
    }
    return { version: last, moved };
  } catch (error) {
    // Silence may mean a dead connection: the object is requested.
    if (silence.signal.aborted) return { version: undefined, moved: true };
    if (error instanceof ApiFault && error.status !== undefined) throw error;
    if (error instanceof ToolLayerError || !isDropped(error)) throw error;
    return { version: last, moved };
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** Connections end in many ways; each of Node's errors for it has a code. */
function isDropped(error: unknown): boolean {
  return error instanceof ApiFault || (error instanceof Error && 'code' in error);
}

function faultOf({ code, reason, message }: Status): ApiFault {
  return new ApiFault(message ?? 'the watch failed', {
    status: code ?? 500,
    ...(reason === undefined ? {} : { reason }),
  });
}

function eventOf<Kind>(line: string): { readonly type: string; readonly object: Kind } {
  try {
    const { type, object } = JSON.parse(line) as { type?: unknown; object?: unknown };
    if (typeof type === 'string' && typeof object === 'object' && object !== null)
      return { type, object: object as Kind };
  } catch {
    // Said below.
  }
  throw new ApiFault('the watch sent something that is no event', { status: 502 });
}

async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of answer as AsyncIterable<Buffer>) {
    rest += decoder.decode(part, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > KUBERNETES_SIZES.watchLineBytesMax) throw new ApiFault('an event is too large', { status: 502 });
    yield* lines.filter((line) => line.trim() !== '');
  }
}
