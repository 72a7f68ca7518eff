/** Any object of the API. */
export interface StoredObject {
  apiVersion?: string;
  kind?: string;
  metadata: { name: string; resourceVersion?: string; labels?: Record<string, string>; [field: string]: unknown };
  [field: string]: unknown;
}

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly collection: string;
  readonly object: StoredObject;
  readonly version: number;
}

/** Objects by collection, with one version counter and the events since the last compaction, as in etcd. */
export interface FakeStore {
  get(collection: string, name: string): StoredObject | undefined;
  list(collection: string): readonly StoredObject[];
  /** Adds or replaces an object. */
  put(collection: string, object: StoredObject): StoredObject;
  /** Changes an existing object; no effect when there is no such object. */
  change(collection: string, name: string, change: (object: StoredObject) => StoredObject): StoredObject | undefined;
  remove(collection: string, name: string): StoredObject | undefined;
  /** Events after a version; undefined when some of them were compacted. */
  since(version: number): readonly StoreEvent[] | undefined;
  version(): number;
  /** Drops past events, so that watches from older versions are answered with 410. */
  compact(): void;
  onEvent(listener: (event: StoreEvent) => void): () => void;
}

export function createFakeStore(): FakeStore {
  const objects = new Map<string, Map<string, StoredObject>>();
  const listeners = new Set<(event: StoreEvent) => void>();
  let history: StoreEvent[] = [];
  let oldest = 0;
  let version = 1;
  const collectionOf = (name: string): Map<string, StoredObject> => {
    const found = objects.get(name) ?? new Map<string, StoredObject>();
    objects.set(name, found);
    return found;
  };
  const notify = (type: StoreEvent['type'], collection: string, object: StoredObject): void => {
    const event = { type, collection, object, version };
    history.push(event);
    for (const listener of [...listeners]) listener(event);
  };
  const store: FakeStore = {
    get: (collection, name) => collectionOf(collection).get(name),
    list: (collection) => [...collectionOf(collection).values()],
    put(collection, object) {
      version += 1;
      const known = collectionOf(collection).has(object.metadata.name);
      const stored = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
      collectionOf(collection).set(object.metadata.name, stored);
      notify(known ? 'MODIFIED' : 'ADDED', collection, stored);
      return stored;
    },
    change(collection, name, change) {
      const known = store.get(collection, name);
      return known === undefined ? undefined : store.put(collection, change(structuredClone(known)));
    },
    remove(collection, name) {
      const known = store.get(collection, name);
      if (known === undefined) return undefined;
      version += 1;
      collectionOf(collection).delete(name);
      notify('DELETED', collection, known);
      return known;
    },
    since: (from) => (from < oldest ? undefined : history.filter((event) => event.version > from)),
    version: () => version,
    compact() {
      version += 1;
      oldest = version;
      history = [];
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return store;
}
