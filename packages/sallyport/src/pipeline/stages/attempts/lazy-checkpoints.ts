// Made for every call; the checkpoints themselves are made when the tool first asks for them.
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { OpenRun } from '../../../bridges/checkpoints.ts';
import type { RunCheckpoints } from '../../../domain/checkpoint/checkpoint.ts';

/** The checkpoints of a call, for one attempt after the other. */
export class LazyCheckpoints {
  readonly #open: () => OpenRun;
  #run: OpenRun | undefined;
  #attempt = 0;
  #ofAttempt: RunCheckpoints | undefined;

  constructor(open: () => OpenRun) {
    this.#open = open;
  }

  /** The next attempt begins; those before save nothing any more. */
  beginAttempt(): () => RunCheckpoints {
    this.close();
    const attempt = this.#attempt;
    return () => (attempt === this.#attempt ? this.#current() : OVER);
  }

  /** Nothing is saved any more. */
  close(): void {
    this.#attempt += 1;
    this.#ofAttempt = undefined;
    this.#run?.close();
  }

  #current(): RunCheckpoints {
    this.#run ??= this.#open();
    this.#ofAttempt ??= this.#run.ofAttempt();
    return this.#ofAttempt;
  }
}

const OVER: RunCheckpoints = {
  restored: undefined,
  stateBytesMax: 0,
  save: () =>
    Promise.reject(new ToolLayerError('E3805', 'This attempt of the call is over; it saves nothing any more.')),
  onTimer: () => {},
};
