import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import type { Chance } from './chance.ts';

/** What a call is about, which says what has to become of it. */
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

/** By what a client asks for the same call again. */
export type Names = 'key' | 'id' | 'both';

/** One call of the plan: its names, and what is asked under them. Each try is the same request, to the letter. */
export interface PlannedCall {
  readonly key: string;
  readonly client: number;
  readonly kind: Kind;
  readonly toolId: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** It is asynchronous. */
  readonly later: boolean;
  /** It is asked twice at the same time. */
  readonly twice: boolean;
  readonly names: Names;
  /** The client gives up its first connection after so many ms; 0 when it waits. */
  readonly breaksAfterMs: number;
  /** Before each try somebody is refused who names the same id and key. */
  readonly stranger: boolean;
}

/** Where a call leaves its effect. */
export interface Places {
  /** File to which each run of a tool appends a line. */
  readonly effects: string;
  /** Folder of the files that tools write whole. */
  readonly files: string;
}

/** Agents that call at the same time. */
export const CLIENTS = 8;

/** Kinds of the calls that come between two kills, and whether they are asynchronous; 26 of them. */
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
  // A second instance may take some of them, where no kill is aimed at.
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

/** One call in so many is asked twice. */
const TWICE_EVERY = 9;
/** One call in so many loses its first connection, where a key lets the call go on. */
const BREAKS_EVERY = 5;
const BREAKS_MS = 40;
/** One call in so many meets a stranger with its names. */
const STRANGER_EVERY = 4;
const NAMES: readonly Names[] = ['key', 'both', 'id'];
/** Size of a file before a call writes it: putting it back takes a while. */
const BEFORE_BYTES = 128 * KiB;

/** What a file holds before any call. */
export const contentBefore = (key: string): string => `before ${key}\n`.padEnd(BEFORE_BYTES, key);
/** What a call of it writes; the hook of the layer refuses what is to be taken back. */
export const contentAfter = ({ key, kind }: Pick<PlannedCall, 'key' | 'kind'>): string => `${kind} ${key}\n`;

/** The file of a call. */
export const fileOf = ({ files }: Places, { key }: Pick<PlannedCall, 'key'>): string => join(files, `${key}.txt`);

/**
 * The calls in slices, one for each time between two kills.
 * @param withShell whether sandboxes can be made here; irreversible functions stand in otherwise
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

/** A line that a run has left. */
export interface Effect {
  readonly key: string;
  readonly invocationId: string;
  /** Names the very run. */
  readonly mark: string;
}

/** The lines by key. */
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
