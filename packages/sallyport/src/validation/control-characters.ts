import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../api/schemas/error.ts';

/** Handling of control characters in texts: a fault, removed, or allowed. */
export type ControlCharacters = 'refuse' | 'strip' | 'allow';

/** Faults after which the walk ends. */
const FAULTS_MAX = 20;
/**
 * C0 without tab, line feed and carriage return, DEL, and the byte order mark: invisible, and not treated as text by
 * terminals, protocols and parsers.
 */
const CONTROL = /[^\P{Cc}\t\n\r\u0080-\u009f]|\ufeff/u;
const CONTROLS = new RegExp(CONTROL, 'gu');
/** Names may contain no control character. */
const CONTROL_IN_NAME = /[\p{Cc}\ufeff]/u;

/** Whether a property name holds a control character or a byte order mark. */
export const hasControl = (name: string): boolean => CONTROL_IN_NAME.test(name);

interface Walk {
  readonly strip: boolean;
  readonly isExempt: ((path: string) => boolean) | undefined;
  readonly faults: Fault[];
}

/**
 * Finds control characters in the texts of a JSON value, or removes them (VAL-06). checkPayload checks names.
 * @param value within the limits of checkPayload; never changed, a copy is returned when something was removed
 * @param isExempt true when the text at a JSON Pointer may contain anything
 * @returns faults with E3801, at most 20, and none when they are removed
 */
export function withoutControls(
  value: unknown,
  mode: Exclude<ControlCharacters, 'allow'>,
  isExempt?: (path: string) => boolean,
): { readonly value: unknown; readonly faults: readonly Fault[] } {
  const walk: Walk = { strip: mode === 'strip', isExempt, faults: [] };
  if (!hasAny(value)) return { value, faults: walk.faults };
  return { value: visit(walk, value, ''), faults: walk.faults };
}

/** Common case: nothing is found, and no path is built. */
function hasAny(value: unknown): boolean {
  if (typeof value === 'string') return CONTROL.test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasAny);
  for (const name in value) if (hasAny((value as Record<string, unknown>)[name])) return true;
  return false;
}

function visit(walk: Walk, value: unknown, path: string): unknown {
  if (typeof value === 'string') return textWithout(walk, value, path);
  if (Array.isArray(value)) return value.map((item, index) => visit(walk, item, pointerTo(path, index)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, visit(walk, member, pointerTo(path, name))]),
  );
}

function textWithout({ strip, isExempt, faults }: Walk, text: string, path: string): string {
  const at = text.search(CONTROL);
  if (at < 0 || isExempt?.(path) === true) return text;
  if (strip) return text.replaceAll(CONTROLS, '');
  if (faults.length < FAULTS_MAX) {
    const code = text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
    faults.push({
      path,
      code: 'E3801',
      keyword: 'control',
      message: `The text holds the control character U+${code} at ${at}.`,
      hint: 'Leave it out, or write it as an escape that the tool reads.',
    });
  }
  return text;
}
