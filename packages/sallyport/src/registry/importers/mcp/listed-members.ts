import { KiB } from '@sallyport/std/bytes';
import type { ListedMcpTool } from '../../importer.port.ts';

const HINTS: ReadonlySet<string> = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']);
/** Largest list of icons, and largest `_meta`, of one tool, as JSON; larger ones are dropped. */
const CHARS_MAX = 256 * KiB;
const TASK_SUPPORT: ReadonlySet<unknown> = new Set(['forbidden', 'optional', 'required']);
const ICON_ADDRESS = /^(?:https?:|data:image\/)/i;

/**
 * The members of a server's tool beside name, schema and texts, as clients get them. A client refuses a whole list for
 * one member of a wrong type (2025-11-25, Tool), so such members are dropped; all others are unchanged.
 */
export function listedMembers(tool: ListedMcpTool): Readonly<Record<string, unknown>> {
  const { description, outputSchema, annotations = {}, icons = [], _meta, execution = {} } = tool;
  const hints = membersOf(annotations, ([name, value]) => {
    if (HINTS.has(name)) return typeof value === 'boolean';
    return name !== 'title' || typeof value === 'string';
  });
  const ways = membersOf(execution, ([name, value]) => name !== 'taskSupport' || TASK_SUPPORT.has(value));
  const shown = icons.filter(isIcon);
  return {
    ...(description === undefined ? { undescribed: true } : {}),
    ...(outputSchema === undefined ? {} : { output_schema: outputSchema }),
    ...(isEmpty(hints) ? {} : { annotations: hints }),
    ...(shown.length === 0 || isTooLong(shown) ? {} : { icons: shown }),
    ...(_meta === undefined || isTooLong(_meta) ? {} : { _meta }),
    ...(isEmpty(ways) ? {} : { execution: ways }),
  };
}

/** True for icons that clients can show: addresses with other schemes may run something (2025-11-25, icons). */
function isIcon(icon: unknown): boolean {
  if (typeof icon !== 'object' || icon === null) return false;
  const { src, mimeType, sizes, theme } = icon as Record<string, unknown>;
  return (
    typeof src === 'string' &&
    ICON_ADDRESS.test(src) &&
    (mimeType === undefined || typeof mimeType === 'string') &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every((size) => typeof size === 'string'))) &&
    (theme === undefined || theme === 'light' || theme === 'dark')
  );
}

const membersOf = (object: object, keeps: (entry: [string, unknown]) => boolean): object =>
  Object.fromEntries(Object.entries(object).filter(keeps));
const isEmpty = (object: object): boolean => Object.keys(object).length === 0;
const isTooLong = (value: unknown): boolean => JSON.stringify(value).length > CHARS_MAX;
