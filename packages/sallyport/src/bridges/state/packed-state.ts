/** `plain`: the state itself. `zstd`: compressed. `delta`: compressed with the parent's state as dictionary. */
export type PackedForm = 'plain' | 'zstd' | 'delta';

/** A state as it is stored. */
export interface PackedState {
  readonly form: PackedForm;
  readonly bytes: Uint8Array;
  /** Length of the plain state in bytes. */
  readonly size: number;
  /** SHA-256 of the plain state, in hex. */
  readonly sha256: string;
}

/** An object that holds the bytes of a packed state; its size and SHA-256 are those of these bytes. */
export interface StateObject {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** A packed state whose bytes are in the object store. */
export interface StateElsewhere extends Omit<PackedState, 'bytes'> {
  readonly object: StateObject;
}
