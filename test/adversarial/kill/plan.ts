import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import type { Chance } from './chance.ts';

/** The kind of a call, on which the expected outcome depends. */
export type Kind =
  | 'pure'
  | 'idempotent'
  | 'compensatable'
  | 'irreversible'
  | 'approved'
  | 'denied'
  | 'shell'
  | 'file'
  | 'taken_back';

/** What identifies a call when a client sends it again: its idempotency key, its id or both. */
export type Names = 'key' | 'id' | 'both';

/** One planned call. Each try sends exactly the same request. */
export interface PlannedCall {
  readonly key: string;
  readonly client: number;
  readonly kind: Kind;
  readonly toolId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the call is asynchronous. */
  readonly later: boolean;
  /** Whether two clients send the call at the same time. */
  readonly twice: boolean;
  readonly names: Names;
  /** After how many ms the client gives up its first connection; 0 when the client waits. */
  readonly breaksAfterMs: number;
  /** Whether a stranger sends the same id and key before each try, and is refused. */
  readonly stranger: boolean;
}

/** Where calls leave their effects. */
export interface Places {
  /** File to which each run of a tool appends a line. */
  readonly effects: string;
  /** Folder of the files that tools replace as a whole. */
  readonly files: string;
}

/** Agents that call at the same time. */
export const CLIENTS = 8;

/** The calls between two kills: kind, whether asynchronous, and how many; 26 in all. */
const SLICE: readonly (readonly [Kind, boolean, number])[] = [
  ['pure', false, 2],
  ['pure', true, 1],
  ['idempotent', false, 2],
  ['idempotent', true, 1],
  ['compensatable', false, 3],
  ['compensatable', true, 1],
  ['irreversible', false, 4],
  ['irreversible', true, 2],
  ['approved', false, 2],
  ['approved', true, 1],
  ['denied', false, 1],
  ['shell', false, 1],
  ['file', false, 2],
  // In the test with two instances the second may take some of these; kills at a rollback aim at the first only.
  ['taken_back', false, 3],
];

const TOOLS: Readonly<Record<Kind, string>> = {
  pure: 'note_pure',
  idempotent: 'note_idempotent',
  compensatable: 'note_compensatable',
  irreversible: 'note_irreversible',
  approved: 'note_approved',
  denied: 'note_approved',
  shell: 'note_shell',
  file: 'keep_file',
  taken_back: 'keep_file',
};

/** Of so many calls one is sent twice. */
const TWICE_EVERY = 9;
/** Of so many calls one loses its first connection, if its key allows to send it again. */
const BREAKS_EVERY = 5;
const BREAKS_MS = 40;
/** For one of so many calls a stranger sends requests with its id and key. */
const STRANGER_EVERY = 4;
const NAMES: readonly Names[] = ['key', 'both', 'id'];
/** Size of a file before a call writes it: restoring it takes a while. */
const BEFORE_BYTES = 128 * KiB;

/** Content of a file before any call. */
export const contentBefore = (key: string): string => `before ${key}\n`.padEnd(BEFORE_BYTES, key);
/** Content that a call writes; the layer's hook refuses the content of calls that are to be taken back. */
export const contentAfter = ({ key, kind }: Pick<PlannedCall, 'key' | 'kind'>): string => `${kind} ${key}\n`;

/** Path of the file of a call. */
export const fileOf = ({ files }: Places, { key }: Pick<PlannedCall, 'key'>): string => join(files, `${key}.txt`);

/**
 * The calls in slices, one for each time between two kills.
 * @param withShell whether sandboxes work on this machine; otherwise irreversible functions replace shell tools
 */
export function planCalls(chance: Chance, slices: number, places: Places, withShell: boolean): PlannedCall[][] {
  let count = 0;
  return Array.from({ length: slices }, () =>
    chance
      .shuffled(SLICE.flatMap(([kind, later, times]) => Array.from({ length: times }, () => ({ kind, later }))))
      .map(({ kind: wished, later }): PlannedCall => {
        const kind = wished === 'shell' && !withShell ? 'irreversible' : wished;
        const client = count % CLIENTS;
        const key = `k${String(count).padStart(4, '0')}`;
        count += 1;
        const names = NAMES[count % NAMES.length] ?? 'key';
        const breaks = names !== 'id' && count % BREAKS_EVERY === 0;
        const call = {
          key,
          client,
          kind,
          toolId: TOOLS[kind],
          later,
          twice: count % TWICE_EVERY === 0,
          names,
          breaksAfterMs: breaks ? 1 + Math.floor(chance.below(BREAKS_MS)) : 0,
          stranger: count % STRANGER_EVERY === 0,
        };
        return { ...call, parameters: parametersOf(call, places) };
      }),
  );
}

function parametersOf(call: Pick<PlannedCall, 'key' | 'kind'>, places: Places): PlannedCall['parameters'] {
  const { key, kind } = call;
  if (kind === 'shell') return { line: `${key} shell -\n` };
  if (kind === 'file' || kind === 'taken_back') return { path: fileOf(places, call), content: contentAfter(call) };
  return { key };
}

/** A line that a run of a tool appended. */
export interface Effect {
  readonly key: string;
  readonly invocationId: string;
  /** Identifies the run. */
  readonly mark: string;
}

/** The lines of all runs, by idempotency key. */
export function readEffects({ effects }: Places): ReadonlyMap<string, readonly Effect[]> {
  const lines = readFileSync(effects, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const found = lines.map((line): Effect => {
    const [key = '', invocationId = '', mark = ''] = line.split(' ');
    return { key, invocationId, mark };
  });
  return Map.groupBy(found, ({ key }) => key);
}
