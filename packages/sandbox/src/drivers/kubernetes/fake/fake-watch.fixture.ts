import type { ServerResponse } from 'node:http';
import type { FakeStore, StoredObject, StoreEvent } from './fake-store.fixture.ts';

/** The open watches of the fake API server. */
export interface FakeWatches {
  open(response: ServerResponse, collection: string, query: URLSearchParams): void;
  /** Cuts all connections. */
  drop(): void;
  /** Sends the current version, without an object, to all watches. */
  bookmark(): void;
  /** Sends a line, unchanged, to all watches. */
  say(line: string): void;
  count(): number;
}

export function createFakeWatches(store: FakeStore): FakeWatches {
  const open = new Set<ServerResponse>();
  const gone = (): object => ({
    type: 'ERROR',
    object: { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old resource version' },
  });
  return {
    open(response, collection, query) {
      const name = /^metadata\.name=(.+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      const write = (event: object): void => void response.write(`${JSON.stringify(event)}\n`);
      const past = store.since(Number(query.get('resourceVersion') ?? 0));
      if (past === undefined) {
        response.end(`${JSON.stringify(gone())}\n`);
        return;
      }
      const send = ({ type, object, collection: where }: StoreEvent): void => {
        if (where === collection && (name === undefined || object.metadata.name === name)) write({ type, object });
      };
      for (const event of past) send(event);
      const stop = store.onEvent(send);
      open.add(response);
      const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 60) * 1000);
      response.once('close', () => {
        clearTimeout(timer);
        stop();
        open.delete(response);
      });
    },
    drop() {
      for (const response of open) response.destroy();
    },
    bookmark() {
      const object: Partial<StoredObject> = { metadata: { name: '', resourceVersion: String(store.version()) } };
      for (const response of open) response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    },
    say(line) {
      for (const response of open) response.write(`${line}\n`);
    },
    count: () => open.size,
  };
}
