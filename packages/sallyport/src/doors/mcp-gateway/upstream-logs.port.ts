import type { LogMessage } from '../../domain/invocation/log-message.ts';

/** A log message of an upstream that belongs to no call. */
export interface UpstreamLog {
  readonly tenantId: string;
  readonly upstream: string;
  /** Key of the only owner whom it may be about; absent: it is about no call. */
  readonly owner?: string;
  readonly message: LogMessage;
}

/** Log messages of upstreams for the sessions of clients. Filled by the layer in this process. */
export interface UpstreamLogs {
  /** Notifies of each message until disposed, bounded in number and size, without secrets and personal data. */
  listen(onLog: (log: UpstreamLog) => void): Disposable;
}
