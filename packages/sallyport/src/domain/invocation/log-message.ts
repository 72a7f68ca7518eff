/** Severities of MCP's log messages (RFC 5424), least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
/** One severity. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The least severe level for clients that state none. */
export const LEAST_BY_DEFAULT: LogLevel = 'info';

/** A log message of a tool or of its server, for the client of the call. Untrusted. */
export interface LogMessage {
  readonly level: LogLevel;
  /** The part of the server that it comes from. */
  readonly logger?: string;
  /** Any JSON. */
  readonly data: unknown;
}

/** Receives the log messages of one call. */
export interface LogListener {
  /**
   * The least severe level that the client states now; it may change while the call runs. Undefined: it states none, and
   * gets what a server sends by itself, from {@link LEAST_BY_DEFAULT} on.
   */
  readonly level: LogLevel | undefined;
  take(message: LogMessage): void;
}

/** True for the name of a severity. */
export function isLogLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}

/** True when a message of this level is wanted where messages from `least` on are. */
export function isWanted(level: LogLevel, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}
