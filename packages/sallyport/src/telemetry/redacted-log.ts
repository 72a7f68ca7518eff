import type { Log } from './log.ts';
import { plainFields } from './plain-fields.ts';

/** Removes personal data and secrets from the fields of a log line. */
export type RedactFields = (fields: Record<string, unknown>) => Record<string, unknown>;

/** The rest of a line whose fields could not be redacted: unredacted fields are never written. */
const UNREADABLE = { redaction: 'failed' };

/** The same log, with the fields of every line redacted (AUD-04). Event names are constants and stay. */
export function redactedLog(log: Log, redact: RedactFields): Log {
  const redacted = redactedFields(redact);
  return {
    debug: (event, fields) => log.debug(event, redacted(fields)),
    info: (event, fields) => log.info(event, redacted(fields)),
    warn: (event, fields) => log.warn(event, redacted(fields)),
    error: (event, fields) => log.error(event, redacted(fields)),
  };
}

/** The redaction, made safe: it never throws. */
export function redactedFields(
  redact: RedactFields,
): (fields: Record<string, unknown> | undefined) => Record<string, unknown> {
  return (fields) => {
    if (fields === undefined) return {};
    try {
      return redact(plainFields(fields));
    } catch {
      return UNREADABLE;
    }
  };
}
