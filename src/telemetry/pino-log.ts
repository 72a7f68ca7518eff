import { pino } from 'pino';
import type { Log } from './log.ts';

/** Levels of the log, least first; `silent` keeps nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Log lines as JSON on standard error: standard output belongs to what a command answers, or to the MCP protocol. */
export function createPinoLog(level: LogLevel): Log {
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
  return {
    debug: (event, fields) => log.debug(fields ?? {}, event),
    info: (event, fields) => log.info(fields ?? {}, event),
    warn: (event, fields) => log.warn(fields ?? {}, event),
    error: (event, fields) => log.error(fields ?? {}, event),
  };
}
