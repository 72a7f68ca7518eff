import { MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import { type CallOwner, ownerKey } from '../domain/invocation/call-owner.ts';
import { isObject } from '../domain/shape/is-object.ts';
import type { Log } from '../telemetry/log.ts';
import type { CheckpointStore } from './checkpoint-store.port.ts';
import { objectOf } from './context/answer.ts';
import type { ContextServerCalls } from './context/context-server.port.ts';
import { continuationReport, type Report, type ReportStep, reportOf } from './context/report.ts';
import { ReportQueue, type ReportQueueParts } from './context/report-queue.ts';
import type { ContextSettings } from './context/settings.ts';
import type { CheckpointListener } from './run/checkpointed-run.ts';

/** The context of a session: what an agent has saved of it. */
export type SessionContext = Readonly<Record<string, unknown>>;

/** The layer as a client of the context servers of its tenants (STA-04). */
export interface ContextBridge extends AsyncDisposable {
  /** Reports checkpoints in the background. A server that cannot be reached harms no call: the log says what was lost. */
  readonly listener: CheckpointListener;
  /**
   * The context of a session, remembered for some time.
   * @returns undefined when there is none, or no context server
   * @throws ToolLayerError as calls of upstreams do; E3308 when the server breaks the protocol
   */
  sessionContext(owner: CallOwner, sessionId: string, signal?: AbortSignal): Promise<SessionContext | undefined>;
  /** Forgets the remembered contexts of an owner, because one was changed. */
  forget(owner: CallOwner): void;
  /** Resolves when all reports were sent or given up. */
  settled(): Promise<void>;
}

/** Dependencies of the bridge. */
export interface ContextBridgeParts extends Pick<ReportQueueParts, 'pauseMs' | 'closeMs'> {
  readonly server: ContextServerCalls;
  /** Remembers what is reported. */
  readonly store: Pick<CheckpointStore, 'reported'>;
  readonly instanceId: string;
  readonly settings: ContextSettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Contexts of sessions that are remembered: how many, and how large together, as JSON. */
const REMEMBERED = { max: 1_000, bytes: 32 * MiB } as const;

/** Makes the bridge. */
export function createContextBridge(parts: ContextBridgeParts): ContextBridge {
  const { settings } = parts;
  const queue = new ReportQueue({
    ...parts,
    send: (of, step, signal) => send(parts, of, step, signal),
    reported: ({ owner, taskId }, sequence) => parts.store.reported(owner.tenantId, taskId, sequence),
    reportsMax: settings.reportsMax,
  });
  return {
    listener: listenerOf(queue, parts),
    ...sessionsOf(parts),
    settled: () => queue.settled(),
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

function listenerOf(queue: ReportQueue, { server, settings, instanceId }: ContextBridgeParts): CheckpointListener {
  const { reportsCheckpoints, stateBytesMax } = settings;
  const reports = (tenantId: string): boolean => reportsCheckpoints && server.has(tenantId);
  const add = (report: Report | undefined): void => {
    if (report !== undefined && reports(report.owner.tenantId)) queue.add(report);
  };
  return {
    ...{ instanceId, reports },
    saved: (facts, state) => add(reportOf(facts, state, stateBytesMax)),
    resumed: (facts) => add(continuationReport(facts)),
  };
}

function sessionsOf(parts: ContextBridgeParts): Pick<ContextBridge, 'sessionContext' | 'forget'> {
  const { cacheMs } = parts.settings;
  const known = new LRUCache<string, { readonly context: SessionContext }>({
    max: REMEMBERED.max,
    maxSize: REMEMBERED.bytes,
    sizeCalculation: ({ context }) => Buffer.byteLength(JSON.stringify(context)),
    ttl: Math.max(1, cacheMs),
    ttlResolution: 0,
    perf: { now: () => parts.clock.monotonic() },
  });
  let changes = 0;
  return {
    async sessionContext(owner, sessionId, signal) {
      const key = `${ownerKey(owner)} ${sessionId}`;
      const remembered = known.get(key);
      // The tool may change what it gets.
      if (remembered !== undefined) return structuredClone(remembered.context);
      const since = changes;
      const context = await readContext(parts, owner, sessionId, signal);
      // What was read before a change is over. That there is none is not remembered: the agent may be about to save one.
      if (context !== undefined && cacheMs > 0 && since === changes)
        known.set(key, { context: structuredClone(context) });
      return context;
    },
    forget(owner) {
      changes += 1;
      const prefix = `${ownerKey(owner)} `;
      for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
    },
  };
}

/** The context of a session is that of the task with its id. */
async function readContext(
  parts: ContextBridgeParts,
  owner: CallOwner,
  sessionId: string,
  signal = new AbortController().signal,
): Promise<SessionContext | undefined> {
  try {
    const found = await ask(parts, owner, 'get_unified_context', { taskId: sessionId }, signal);
    const context = found?.['immediateContext'];
    if (found === undefined || isObject(context)) return context as SessionContext | undefined;
    throw new ToolLayerError('E3308', 'The context server answered without immediateContext.');
  } catch (thrown) {
    if (thrown instanceof ToolLayerError && thrown.code === 'E3702') return undefined;
    throw thrown;
  }
}

async function send(
  parts: ContextBridgeParts,
  { owner, taskId }: Omit<Report, 'steps'>,
  step: ReportStep,
  signal: AbortSignal,
): Promise<void> {
  if (step.tool !== 'rollback_to') return void (await ask(parts, owner, step.tool, step.args, signal));
  const found = await ask(parts, owner, 'get_unified_context', { taskId, includeVersionHistory: true }, signal);
  const checkpointId = idAtServer(found?.['checkpoints'], step.checkpointId);
  if (checkpointId === undefined) return;
  await ask(parts, owner, 'rollback_to', { taskId, target: { type: 'checkpoint', checkpointId } }, signal);
}

/** The server's id of a checkpoint of the layer, which its description names. */
function idAtServer(checkpoints: unknown, checkpointId: string): string | undefined {
  if (!Array.isArray(checkpoints)) return undefined;
  const found = checkpoints.filter(isObject).find(({ description }) => String(description).startsWith(checkpointId));
  return typeof found?.['checkpointId'] === 'string' ? found['checkpointId'] : undefined;
}

/** @returns undefined when there is no context server */
async function ask(
  { server, settings: { timeoutMs } }: ContextBridgeParts,
  owner: CallOwner,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const answer = await server.call(owner, tool, args, { signal, timeoutMs });
  return answer === undefined ? undefined : objectOf(answer);
}
