import type { InjectionFinding, Threat } from '../finding.ts';

/** Searches a changed text again for one threat. */
export type FindAgain = (text: string, threat: Threat) => readonly InjectionFinding[];

/** How often a removal is repeated on the remaining text. */
const ROUNDS_MAX = 4;

/** Replaces each finding by a mark, until none is left; a text that stays dangerous is replaced as a whole. */
export function redactFindings(
  text: string,
  threat: Threat,
  findings: readonly InjectionFinding[],
  findAgain: FindAgain,
): string {
  const mark = `[removed: ${threat}]`;
  let [current, found] = [text, findings];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    current = replaceSpans(current, found, mark);
    found = findAgain(current, threat);
    if (found.length === 0) return current;
  }
  return mark;
}

/** Findings may overlap; those that do share one mark. */
function replaceSpans(text: string, findings: readonly InjectionFinding[], mark: string): string {
  const spans = [...findings].sort((one, other) => one.start - other.start);
  let result = '';
  let from = 0;
  for (const { start, end } of spans) {
    if (start >= from) result += text.slice(from, start) + mark;
    from = Math.max(from, end);
  }
  return result + text.slice(from);
}

/**
 * Escapes the whole text so that it is harmless in its target; unescaping gives the text again.
 * @returns undefined when no escape makes it safe
 */
export function escapeText(
  text: string,
  threat: Threat,
  findings: readonly InjectionFinding[],
  findAgain: FindAgain,
): string | undefined {
  if (threat === 'command_injection') return `'${text.replaceAll("'", `'\\''`)}'`;
  // Doubled quotes keep a string closed; a text without quotes was put where no quotes are, and escaping does not help.
  if (threat === 'sql_injection') return /['"]/.test(text) ? text.replace(/['"\\]/g, '$&$&') : undefined;
  const address = findings.some(({ rule, start }) => rule === 'script_address' && start === 0);
  // References are decoded before an address is followed; an unknown scheme is not followed.
  const escaped = (address ? 'unsafe:' : '') + text.replace(/[&<>"'`=]/g, (sign) => REFERENCES[sign] ?? sign);
  return findAgain(escaped, threat).length === 0 ? escaped : undefined;
}

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '=': '&#61;',
};
