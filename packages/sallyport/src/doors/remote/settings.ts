import { MiB } from '@sallyport/std/bytes';

/** What can be set of the client of a running layer. */
export interface RemoteSettings {
  /** Largest answer that is read, in bytes. */
  readonly answerBytesMax: number;
  /** Time between looks at the tools while somebody listens for changes, in ms: REST tells of none by itself. */
  readonly changesPollMs: number;
}

export const REMOTE_DEFAULTS: RemoteSettings = { answerBytesMax: 64 * MiB, changesPollMs: 5_000 };
