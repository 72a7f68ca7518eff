import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { CheckpointNote, RestoredCheckpoint } from '../../domain/checkpoint/checkpoint.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { UpstreamCallOptions } from '../../mcp-servers/upstreams.ts';
import type { ExecutorCall } from '../executor.port.ts';

/** Most checkpoints of one call that wait to be stored. */
const WAITING_MAX = 16;
/** Most characters of a name, a milestone and a phase. */
const TEXT_CHARS_MAX = 256;

/** The checkpoints of a call that its server saves. */
export type ServerCheckpoints = NonNullable<UpstreamCallOptions['checkpoints']> & {
  /** Resolves when all that the server has sent so far is stored, or was refused. */
  settled(): Promise<void>;
};

interface Sent {
  readonly state: unknown;
  readonly note: CheckpointNote;
}

/**
 * The checkpoints of a call, stored one after the other. A server does not wait for them: of micro ones that wait in a
 * row the last is stored.
 */
export function serverCheckpoints(call: ExecutorCall): ServerCheckpoints {
  const waiting: Sent[] = [];
  let storing: Promise<void> | undefined;
  const store = async (): Promise<void> => {
    for (let sent = waiting.shift(); sent !== undefined; sent = waiting.shift()) {
      await call.checkpoints
        ?.save(sent.state, sent.note)
        .catch((thrown: unknown) => call.onUnsaved?.(reasonOf(thrown)));
    }
    storing = undefined;
  };
  return {
    offered() {
      const restored = call.checkpoints?.restored;
      return restored === undefined ? {} : { restored: shown(restored) };
    },
    take(given) {
      const sent = checkpointIn(given);
      if (sent === undefined) return call.onUnsaved?.('it is no checkpoint, or holds a secret of the connection');
      if (isMicro(sent) && isMicro(waiting.at(-1))) waiting.pop();
      if (waiting.length >= WAITING_MAX) return call.onUnsaved?.('they come faster than they are stored');
      waiting.push(sent);
      storing ??= store();
    },
    settled: () => storing ?? Promise.resolve(),
  };
}

const isMicro = (sent: Sent | undefined): boolean =>
  sent !== undefined && sent.note.name === undefined && sent.note.milestone === undefined;

const reasonOf = (thrown: unknown): string =>
  thrown instanceof ToolLayerError ? `of ${thrown.code}: ${thrown.message}` : 'it could not be stored';

/** A checkpoint as a server sent it; undefined for anything else. Untrusted. */
function checkpointIn(given: unknown): Sent | undefined {
  if (!isObject(given) || !Object.hasOwn(given, 'state')) return undefined;
  const { state, milestone, name, phase, progress_percent: percent } = given;
  if (![milestone, name, phase].every(isText)) return undefined;
  if (percent !== undefined && !(typeof percent === 'number' && percent >= 0 && percent <= 100)) return undefined;
  const note = { milestone, name, phase, progressPercent: percent };
  const said = Object.entries(note).filter(([, value]) => value !== undefined);
  return { state, note: Object.fromEntries(said) as CheckpointNote };
}

const isText = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX);

/** @throws ToolLayerError E3703 for a state that is no JSON */
function shown({ checkpointId, type, toolVersion, savedAt, bytes }: RestoredCheckpoint): Record<string, unknown> {
  const facts = { checkpoint_id: checkpointId, checkpoint_type: type, tool_version: toolVersion };
  return { ...facts, saved_at: new Date(savedAt).toISOString(), state: parsed(bytes) };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch (cause) {
    const message = 'The state is no JSON, and a server gets it as JSON. Call without a checkpoint.';
    throw new ToolLayerError('E3703', message, { cause });
  }
}
