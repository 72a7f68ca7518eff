/** Version of the form in which states are stored; what has another major version is not read (STA-03). */
export const SCHEMA_VERSION = '1.0';

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
