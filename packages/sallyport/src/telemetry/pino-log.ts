import { hiddenEscaped } from '@sallyport/std/text/hidden-characters';
import { pino } from 'pino';
import type { Log } from './log.ts';
import { type RedactFields, redactedFields } from './redacted-log.ts';

/** Levels of the log, least first; `silent` keeps nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * Log lines as JSON on standard error: standard output belongs to a command's answer, or to the MCP protocol.
 * Characters that a terminal would interpret or not show are JSON escapes.
 * @param redact removes personal data and secrets from the fields of the lines that are kept (AUD-04)
 * @param fd file descriptor to write to; default 2
 */
export function createPinoLog(level: LogLevel, redact: RedactFields, fd = 2): Log {
  const output = pino.destination({ fd, sync: true });
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: redactedFields(redact) },
    },
    { write: (line) => output.write(hiddenEscaped(line)) },
  );
  return {
    debug: (event, fields) => log.debug(fields ?? {}, event),
    info: (event, fields) => log.info(fields ?? {}, event),
    warn: (event, fields) => log.warn(fields ?? {}, event),
    error: (event, fields) => log.error(fields ?? {}, event),
  };
}
