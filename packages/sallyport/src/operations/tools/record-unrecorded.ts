import { randomUUID } from 'node:crypto';
import { clearInterval, setInterval } from 'node:timers';
import { messageOf } from '@sallyport/std/error/message-of';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import { recordKeptEvents, type UnrecordedParts } from '../audit/record-kept-events.ts';
import type { OperationParts } from '../parts.ts';

/** Ms after which a change without its event was left by a crash: an operation takes far less between the two. */
const UNRECORDED_MS = 10_000;
/** Ms between searches for such changes, since another instance may have crashed. */
const LOOK_MS = 10_000;

type Parts = Pick<OperationParts, 'registry' | 'ledger' | 'clock' | 'log'>;

/**
 * Audits changes of tool versions whose own events were lost, because the process was killed between the two
 * transactions. Each is recorded with its present state, and with the asker as far as the registry knows. Two instances
 * may both record one; none is left out. Resolves to their number.
 */
export async function recordUnrecorded(parts: Parts, olderThanMs = UNRECORDED_MS): Promise<number> {
  const left = await parts.registry.unrecorded(olderThanMs);
  for (const [tenantId, versions] of Map.groupBy(left, (version) => version.tenantId)) {
    await parts.ledger.commit({
      events: [
        {
          id: randomUUID(),
          type: 'ai.agent.registry.changed',
          time: parts.clock.now(),
          tenantId,
          subject: versions[0]?.manifest.tool_id ?? tenantId,
          data: { change: 'found-unrecorded', tenant_id: tenantId, tools: versions.map(asItStands) },
        },
      ],
      durability: 'synchronous',
    });
    await parts.registry.recorded(versions);
  }
  if (left.length > 0) parts.log.warn('registry-changes-found-unrecorded', { count: left.length });
  return left.length;
}

/**
 * Searches periodically until disposed: for changes of tool versions without their events, and for events that were
 * committed with their changes.
 */
export function followUnrecorded(parts: Parts & UnrecordedParts): AsyncDisposable {
  let working: Promise<unknown> | undefined;
  const search = async (): Promise<void> => {
    for (const record of [recordUnrecorded, recordKeptEvents])
      await record(parts).catch((cause: unknown) =>
        parts.log.warn('unrecorded-changes-not-looked-for', { reason: messageOf(cause) }),
      );
  };
  const look = (): void => {
    working ??= search().finally(() => {
      working = undefined;
    });
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  look();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await working;
    },
  };
}

function asItStands({ manifest, contentHash, state, registeredAt, registeredBy, stateChanges }: ToolVersion) {
  const last = stateChanges?.at(-1);
  const by = last?.by ?? registeredBy;
  return {
    tool_id: manifest.tool_id,
    tool_version: manifest.version,
    content_hash: contentHash,
    state,
    changed_at: last?.at ?? registeredAt,
    ...(by === undefined ? {} : { by }),
  };
}
