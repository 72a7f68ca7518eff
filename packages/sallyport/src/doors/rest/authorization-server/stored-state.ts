import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Adapter, StoredPayload } from 'oidc-provider';

/** What the authorization server remembers: registered clients, grants, sessions, tokens to renew with. */
export interface StoredState extends AsyncDisposable {
  /** Objects of one model of the library. */
  adapterOf(model: string): Adapter;
}

interface Entry {
  readonly payload: StoredPayload;
  /** Epoch ms; absent: never. */
  readonly expiresAt?: number;
}

/** Most objects of one model; the one that was written first is forgotten for a new one. */
const PER_MODEL_MAX = 1000;
/** Models that outlive a restart. The others last for minutes, or are no state of a user or client. */
const KEPT: ReadonlySet<string> = new Set(['Client', 'Grant', 'RefreshToken', 'Session']);

/**
 * Opens the state in a file that only its owner reads. An unreadable file counts as empty: clients register again, and
 * users log in again. A change is in the file before the answer that made it.
 */
export async function openStoredState(file: string): Promise<StoredState> {
  const models = new Map<string, Map<string, Entry>>(await read(file));
  let writing: Promise<void> = Promise.resolve();
  const write = (): Promise<void> => {
    writing = writing.catch(() => undefined).then(() => replace(file, models));
    return writing;
  };
  return {
    adapterOf: (model) => {
      const entries = models.get(model) ?? new Map<string, Entry>();
      models.set(model, entries);
      return adapterOver(entries, KEPT.has(model) ? write : async () => undefined);
    },
    [Symbol.asyncDispose]: () => writing.catch(() => undefined),
  };
}

function adapterOver(entries: Map<string, Entry>, write: () => Promise<void>): Adapter {
  const find = async (id: string): Promise<StoredPayload | undefined> => {
    const entry = entries.get(id);
    if (entry?.expiresAt === undefined || Date.now() < entry.expiresAt) return entry?.payload;
    entries.delete(id);
    return undefined;
  };
  const findBy = async (member: string, value: string): Promise<StoredPayload | undefined> => {
    for (const [id, { payload }] of entries) if (payload[member] === value) return find(id);
    return undefined;
  };
  return {
    find,
    findByUid: (uid) => findBy('uid', uid),
    findByUserCode: (userCode) => findBy('userCode', userCode),
    async upsert(id, payload, expiresIn) {
      entries.delete(id);
      const [oldest] = entries.keys();
      if (oldest !== undefined && entries.size >= PER_MODEL_MAX) entries.delete(oldest);
      entries.set(id, { payload, ...(expiresIn === undefined ? {} : { expiresAt: Date.now() + expiresIn * 1000 }) });
      await write();
    },
    async consume(id) {
      const entry = entries.get(id);
      if (entry === undefined) return;
      entries.set(id, { ...entry, payload: { ...entry.payload, consumed: Math.floor(Date.now() / 1000) } });
      await write();
    },
    async destroy(id) {
      if (entries.delete(id)) await write();
    },
    async revokeByGrantId(grantId) {
      for (const [id, { payload }] of entries) if (payload['grantId'] === grantId) entries.delete(id);
      await write();
    },
  };
}

type Saved = readonly [model: string, entries: readonly [id: string, entry: Entry][]];

async function read(file: string): Promise<[string, Map<string, Entry>][]> {
  try {
    const saved = JSON.parse(await readFile(file, 'utf8')) as readonly Saved[];
    return saved.map(([model, entries]) => [model, new Map(entries)]);
  } catch {
    return [];
  }
}

async function replace(file: string, models: ReadonlyMap<string, ReadonlyMap<string, Entry>>): Promise<void> {
  const kept = [...models].filter(([model]) => KEPT.has(model));
  const saved: readonly Saved[] = kept.map(([model, entries]) => [model, [...entries]]);
  const draft = `${file}.draft`;
  await writeFile(draft, JSON.stringify(saved), { mode: 0o600 });
  await rename(draft, file);
}
