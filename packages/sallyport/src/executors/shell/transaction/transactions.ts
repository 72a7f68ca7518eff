import { checkCommand } from '@sallyport/guards';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ValuesOf } from '../../../domain/settings/setting.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { ExecutorCall } from '../../executor.port.ts';
import type { TRANSACTION_SETTINGS } from '../settings.ts';
import type { RollbackCause, ShellConfig, TransactionConfig } from '../shell-config.ts';
import { createScopeTurns, type ScopeTurns } from './scope-turns.ts';
import { AnotherFolder, NotSecured } from './snapshot.ts';
import type { KeptSnapshot, SnapshotFolder } from './snapshot-folder.ts';
import { type HeldSnapshot, takeSnapshot } from './take-snapshot.ts';
import { Stalled } from './unless-stalled.ts';

/**
 * Defaults for manifests that do not mention transactions. A manifest can lower a limit, and cannot drop a requirement.
 */
export interface TransactionSettings extends Omit<ValuesOf<typeof TRANSACTION_SETTINGS>, 'autoRollbackExitCodes'> {
  readonly autoRollbackExitCodes: readonly number[];
}

/** Dependencies of transactions. */
export interface TransactionParts {
  readonly folder: SnapshotFolder;
  readonly log: Log;
  readonly settings: TransactionSettings;
  /** Absolute paths of the layer's own files: a folder that contains one is never copied nor restored. */
  readonly closed: readonly string[];
}

/** End of a command: its exit code, or another cause. */
export type CommandEnd = number | RollbackCause;

/** The secured files of one command. Closing it drops them and lets the next one begin. */
export interface Transaction extends AsyncDisposable {
  /** Reason why nothing could be secured although the command runs. */
  readonly unsecured?: string;
  /**
   * Undoes the command's changes when its end requires that.
   * @returns whether it did
   * @throws E3804 when not everything could be undone
   */
  settle(end: CommandEnd): Promise<boolean>;
}

/** Undoes commands that fail (EXE-03). */
export interface Transactions {
  /**
   * Secures the files that the command may write. Undefined when it is no transaction, or writes nothing.
   * @throws E3110, E3102 for `max_snapshot_bytes`, when securing fails and is required; the signal's reason
   */
  begin(call: ExecutorCall, command: readonly string[], signal: AbortSignal): Promise<Transaction | undefined>;
}

interface Terms {
  readonly globs: readonly string[];
  readonly ends: ReadonlySet<CommandEnd>;
  readonly required: boolean;
  readonly bytesMax: number;
}

const DEFAULT_CAUSES: readonly RollbackCause[] = ['timeout', 'cancel', 'violation', 'signal'];

/** Makes transactions; those over the same files run in sequence. */
export function createTransactions(parts: TransactionParts): Transactions {
  const turns = createScopeTurns();
  return {
    async begin(call, command, signal) {
      const terms = termsOf(call.tool.manifest.executor.config as ShellConfig, parts.settings);
      const paths = call.grant.filesystem.filter(({ mode }) => mode === 'rw').map(({ path }) => path);
      if (terms === undefined || paths.length === 0 || readsOnly(command)) return undefined;
      return secured(parts, turns, { call, terms, paths, signal });
    },
  };
}

function termsOf(config: ShellConfig, settings: TransactionSettings): Terms | undefined {
  // What a checkpoint says is done must not be taken back.
  const isByDefault = settings.transactional && config.stdin !== 'checkpoints';
  const given: TransactionConfig | undefined = config.transaction ?? (isByDefault ? {} : undefined);
  if (given === undefined || given.auto_rollback === false) return undefined;
  const codes = given.auto_rollback_exit_codes ?? settings.autoRollbackExitCodes;
  const successes = config.success_exit_codes ?? [0];
  return {
    globs: given.transaction_scope ?? settings.transactionScope,
    ends: new Set<CommandEnd>([
      ...codes.filter((code) => !successes.includes(code)),
      ...(given.rollback_on ?? DEFAULT_CAUSES),
    ]),
    required: given.snapshot_required === true || settings.snapshotRequired,
    bytesMax: lower(given.max_snapshot_bytes ?? 0, settings.maxSnapshotBytes),
  };
}

/** 0 stands for no limit. */
const lower = (a: number, b: number): number => (a === 0 || b === 0 ? a + b : Math.min(a, b));

/**
 * Judged by the built-in rules alone: a command that an operator lets run unquestioned may still write. Unknown
 * commands count as writing.
 */
function readsOnly(command: readonly string[]): boolean {
  const { verdict, writes } = checkCommand(command);
  return verdict === 'safe' && writes.length === 0;
}

interface Order {
  readonly call: ExecutorCall;
  readonly terms: Terms;
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
}

async function secured(parts: TransactionParts, turns: ScopeTurns, order: Order): Promise<Transaction> {
  const { call, terms, paths, signal } = order;
  const { filesystem, links } = call.grant;
  const endTurn = await turns.take(paths, signal);
  let kept: KeptSnapshot | undefined;
  try {
    keepOff(parts.closed, order);
    // Includes the link targets at the time of the grant: the snapshot must not be visible to the command.
    kept = await parts.folder.make(filesystem.flatMap(({ path }) => [path, links?.get(path) ?? path]));
    const { globs, bytesMax } = terms;
    const held = await takeSnapshot({ paths, globs, bytesMax, pack: kept.pack, signal });
    return transaction(parts, order, kept, held, endTurn);
  } catch (thrown) {
    await kept?.[Symbol.asyncDispose]();
    endTurn();
    if (signal.aborted) throw signal.reason;
    return withoutSnapshot(parts, order, thrown);
  }
}

/**
 * A restore would also reset keys, revocations and the database.
 * @throws NotSecured
 */
function keepOff(closed: readonly string[], { call, paths }: Order): void {
  const real = paths.map((path) => call.grant.links?.get(path) ?? path);
  const around = real.find((path) => closed.some((place) => place === path || place.startsWith(`${path}/`)));
  if (around !== undefined) throw new NotSecured(`what is the layer's own lies in ${around}`);
}

function transaction(
  { log }: TransactionParts,
  { call, terms }: Order,
  kept: KeptSnapshot,
  held: HeldSnapshot,
  endTurn: () => void,
): Transaction {
  const close = async (): Promise<void> => {
    try {
      await held[Symbol.asyncDispose]();
      await kept[Symbol.asyncDispose]();
    } finally {
      endTurn();
    }
  };
  let hangs: Promise<void> | undefined;
  return {
    async settle(end) {
      if (!terms.ends.has(end)) return false;
      const fields = { invocation_id: call.invocationId, tool_id: call.tool.manifest.tool_id, end };
      try {
        await kept.restore(held, call.onUndoing);
      } catch (cause) {
        if (cause instanceof Stalled) hangs = cause.over;
        log.error('rollback-failed', { ...fields, reason: String(cause), path: kept.path });
        throw notTakenBack(end, cause);
      }
      log.info('rolled-back', fields);
      call.onRolledBack?.();
      return true;
    },
    async [Symbol.asyncDispose]() {
      if (hangs === undefined) return close();
      // The files have their next turn when the operation that hangs is over; this call does not wait for it.
      hangs
        .then(close)
        .catch((cause: unknown) => log.error('snapshot-not-closed', { path: kept.path, reason: String(cause) }));
    },
  };
}

/** When securing is optional, the command runs without it and its changes stay. */
function withoutSnapshot({ log }: TransactionParts, { call, terms }: Order, thrown: unknown): Transaction {
  const why = thrown instanceof NotSecured ? thrown.message : 'the snapshot could not be written';
  if (terms.required) throw refused(why, thrown);
  log.warn('no-snapshot', {
    invocation_id: call.invocationId,
    tool_id: call.tool.manifest.tool_id,
    reason: String(thrown),
  });
  return { unsecured: why, settle: async () => false, async [Symbol.asyncDispose]() {} };
}

function refused(why: string, cause: unknown): ToolLayerError {
  const message = `The command did not run, because its files could not be secured: ${why}.`;
  const bytesMax = cause instanceof NotSecured ? cause.bytesMax : undefined;
  if (bytesMax === undefined) return new ToolLayerError('E3110', message, { cause });
  return new ToolLayerError('E3102', message, { cause, details: { limit: 'snapshot', max_snapshot_bytes: bytesMax } });
}

function notTakenBack(end: CommandEnd, cause: unknown): ToolLayerError {
  if (cause instanceof AnotherFolder) {
    const message = `The command failed, and nothing that it changed was taken back: another folder, or a link, is at ${cause.path} now. Look at its files before you call again; the operator finds the snapshot named in the log.`;
    return new ToolLayerError('E3804', message, {
      cause,
      details: { rollback: 'refused', path: cause.path, end },
    });
  }
  return new ToolLayerError(
    'E3804',
    'The command failed, and not all that it changed could be taken back. Look at its files before you call again; the operator finds the snapshot named in the log.',
    { cause, details: { rollback: 'failed', end } },
  );
}
