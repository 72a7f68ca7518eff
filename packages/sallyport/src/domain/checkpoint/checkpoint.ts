/** `micro`: by the layer on its timer, or by the tool at any time. `macro`: at a milestone. `named`: by hand. */
export type CheckpointType = 'micro' | 'macro' | 'named';

/** What a tool says about a state that it saves. */
export interface CheckpointNote {
  /** Name of the milestone that was reached: the checkpoint is kept for as long as macro checkpoints are. */
  readonly milestone?: string;
  /** Name of the checkpoint: it is kept until it is deleted. */
  readonly name?: string;
  /** What the tool does at present, such as `parsing`. */
  readonly phase?: string;
  /** 0 to 100. */
  readonly progressPercent?: number;
}

/** The checkpoint from which a run continues. */
export interface RestoredCheckpoint {
  readonly checkpointId: string;
  readonly type: CheckpointType;
  /** Version of the tool that saved it. */
  readonly toolVersion: string;
  /** Epoch ms. */
  readonly savedAt: number;
  readonly phase?: string;
  readonly progressPercent?: number;
  /** The state as bytes: JSON text, unless the tool saved bytes. */
  readonly bytes: Uint8Array;
}

/** A saved checkpoint. */
export interface SavedCheckpoint {
  readonly checkpointId: string;
  readonly type: CheckpointType;
  /** Epoch ms. */
  readonly savedAt: number;
}

/** The checkpoints of one run of a tool (STA-01). */
export interface RunCheckpoints {
  /** Undefined when the run begins at its beginning. */
  readonly restored: RestoredCheckpoint | undefined;
  /** Largest state that can be saved. */
  readonly stateBytesMax: number;
  /**
   * Saves a state; resolves when it is stored, so that a later run of the call can continue from it.
   * @param state a JSON value, or bytes
   * @throws ToolLayerError E3704 when another run has continued the work of this one: stop; E3701 when it could not be
   *   stored, E3102 when the state is too large, E3109 when it is no JSON value
   */
  save(state: unknown, note?: CheckpointNote): Promise<SavedCheckpoint>;
  /** From now on the layer takes the state from `state` at every interval, and saves it when it has changed. */
  onTimer(state: () => unknown): void;
}
