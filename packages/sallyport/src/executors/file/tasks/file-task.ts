import type { Clock } from '@sallyport/std/clock';
import type { Progress } from '../../../domain/principal/principal.ts';
import { abortReason } from '../../abort-reason.ts';
import type { UndoRecorder } from '../../executor.port.ts';
import type { Handles } from '../confinement/handles.ts';
import type { PathPolicy } from '../confinement/path-policy.ts';
import type { Root } from '../confinement/roots.ts';
import type { FileBounds } from '../settings.ts';
import type { FileTurns } from './file-turns.ts';

/** Context of one call of a file tool. */
export interface FileTask {
  readonly handles: Handles;
  readonly roots: readonly Root[];
  readonly policy: PathPolicy;
  readonly bounds: FileBounds;
  readonly turns: FileTurns;
  /** Folders known to contain no leftovers of killed layers; filled by `sweepLeftovers`. */
  readonly swept: Set<string>;
  readonly clock: Clock;
  /** Room for text in the result, in bytes of JSON. */
  readonly outputBytesMax: number;
  readonly signal: AbortSignal;
  /** Where changes are recorded before they are made. */
  readonly undo?: UndoRecorder;
  readonly onProgress?: (progress: Progress) => void;
}

/** @throws ToolLayerError the signal's reason */
export function stopWhenAborted({ signal }: Pick<FileTask, 'signal'>): void {
  if (signal.aborted) throw abortReason(signal);
}
