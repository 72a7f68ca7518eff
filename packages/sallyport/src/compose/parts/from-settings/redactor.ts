import {
  createRedactor,
  KINDS_BY_CATEGORY,
  REDACTION_KINDS,
  type RedactionKind,
  type Redactor,
} from '@sallyport/guards';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { RedactFields } from '../../../telemetry/redacted-log.ts';
import type { Settings } from '../../settings.ts';

/**
 * Removes personal data and secrets from audit and logs.
 * @throws ToolLayerError E3801 for a kind that does not exist
 */
export function redactorOf(settings: Pick<Settings, 'redact.kinds' | 'redact.fields'>): Redactor {
  const kinds = settings['redact.kinds'].flatMap(kindsNamed);
  const unknown = kinds.filter((kind) => !isKind(kind));
  if (unknown.length > 0) {
    throw new ToolLayerError(
      'E3801',
      `redact.kinds, redact.results: there is no kind or group ${unknown.join(', ')}. Choose among ${REDACTION_KINDS.join(', ')}, or of the groups ${Object.keys(KINDS_BY_CATEGORY).join(', ')}.`,
    );
  }
  return createRedactor({ kinds: kinds.filter(isKind), fields: settings['redact.fields'] });
}

/**
 * The redactor for failures that tools report. A failure is recorded and is also the result of the call, so it must
 * hold nothing that either must not.
 */
export function failureRedactorOf(
  settings: Pick<Settings, 'redact.kinds' | 'redact.results' | 'redact.fields'>,
  recorded: Redactor,
): Redactor {
  const { 'redact.kinds': kinds, 'redact.results': results } = settings;
  return results.length === 0 ? recorded : redactorOf({ ...settings, 'redact.kinds': [...kinds, ...results] });
}

/** The redactor for fields of log lines. */
export function redactFields(redactor: Redactor): RedactFields {
  return (fields) => redactor.value(fields).value as Record<string, unknown>;
}

/** All kinds of a named group (MOD-06), or the name itself. `password`, `token` and `path` are single kinds. */
function kindsNamed(name: string): readonly string[] {
  const groups: Readonly<Record<string, readonly RedactionKind[]>> = KINDS_BY_CATEGORY;
  return Object.hasOwn(groups, name) ? (groups[name] ?? []) : [name];
}

const isKind = (kind: string): kind is RedactionKind => (REDACTION_KINDS as readonly string[]).includes(kind);
