import { createRedactor, REDACTION_KINDS, type RedactionKind, type Redactor } from '../../../detectors/redact.ts';
import { ToolLayerError } from '../../../domain/error/tool-layer-error.ts';
import type { RedactFields } from '../../../telemetry/redacted-log.ts';
import type { Settings } from '../../settings.ts';

/**
 * What takes personal data and secrets out of audit and logs.
 * @throws ToolLayerError E3801 for a kind that does not exist
 */
export function redactorOf(settings: Pick<Settings, 'redact.kinds' | 'redact.fields'>): Redactor {
  const kinds = settings['redact.kinds'];
  const unknown = kinds.filter((kind) => !isKind(kind));
  if (unknown.length > 0) {
    throw new ToolLayerError(
      'E3801',
      `redact.kinds: there is no kind ${unknown.join(', ')}. Choose among ${REDACTION_KINDS.join(', ')}.`,
    );
  }
  return createRedactor({ kinds: kinds.filter(isKind), fields: settings['redact.fields'] });
}

/** The same for the fields of log lines. */
export function redactFields(redactor: Redactor): RedactFields {
  return (fields) => redactor.value(fields).value as Record<string, unknown>;
}

const isKind = (kind: string): kind is RedactionKind => (REDACTION_KINDS as readonly string[]).includes(kind);
