import { MiB } from '@sallyport/std/bytes';

/** Settings of the client of a running layer. */
export interface RemoteSettings {
  /** Largest answer that is read, in bytes. */
  readonly answerBytesMax: number;
  /** Time between polls of the tools while somebody listens for changes, in ms: REST sends no notifications. */
  readonly changesPollMs: number;
}

export const REMOTE_DEFAULTS: RemoteSettings = { answerBytesMax: 64 * MiB, changesPollMs: 5_000 };
