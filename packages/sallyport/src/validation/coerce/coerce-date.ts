/** Longer texts are no dates. */
const DATE_LENGTH_MAX = 64;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH_NAMES = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DAY_NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Year first: 2026-1-5, 2026/01/05, 2026.01.05, 20260105. */
const YEAR_FIRST = /^(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d{2})(\d{2}))$/;
/** Day and month by name: 5 Jan 2026, Mon, 05 January 2026. */
const DAY_FIRST = /^(?:([a-z]{3,9}),? )?(\d{1,2})[ -]([a-z]{3,9})[ -](\d{4})$/;
/** January 5, 2026. */
const MONTH_FIRST = /^(?:([a-z]{3,9}),? )?([a-z]{3,9}) (\d{1,2}),? (\d{4})$/;
/** Hours and minutes, seconds and their fraction, and the offset without which a time names no instant. */
const CLOCK =
  /^(\d{2})(?::(\d{2})(?::(\d{2})([.,]\d{1,9})?)?|(\d{2})(?:(\d{2})([.,]\d{1,9})?)?) ?(z|utc|gmt|[+-]\d{2}(?::?\d{2})?)$/;

/**
 * A day in the spelling of `date` (RFC 3339), or undefined when the text names none, or more than one: 05/01/2026 is in
 * May or in January. A day that the calendar lacks and a weekday that does not fit are refused.
 */
export function dateFrom(text: string): string | undefined {
  if (text.length > DATE_LENGTH_MAX) return undefined;
  const plain = text.toLowerCase();
  const [, y, , m, d, m2, d2] = YEAR_FIRST.exec(plain) ?? [];
  if (y !== undefined) return day(Number(y), Number(m ?? m2), Number(d ?? d2));
  const [, weekday, dayOf, month, year] = DAY_FIRST.exec(plain) ?? [];
  if (month !== undefined) return day(Number(year), monthOf(month), Number(dayOf), weekday);
  const [, weekdayOf, name, number, inYear] = MONTH_FIRST.exec(plain) ?? [];
  return name === undefined ? undefined : day(Number(inYear), monthOf(name), Number(number), weekdayOf);
}

/**
 * An instant in the spelling of `date-time` (RFC 3339), or undefined when the text names none or is ambiguous: a time
 * without offset, a day without time. The offset and every digit stay unchanged.
 */
export function dateTimeFrom(text: string): string | undefined {
  if (text.length > DATE_LENGTH_MAX) return undefined;
  const plain = text.toLowerCase();
  for (const cut of cutsOf(plain)) {
    const date = dateFrom(plain.slice(0, cut));
    const time = date === undefined ? undefined : clockFrom(plain.slice(cut + 1));
    if (time !== undefined) return `${date}T${time}`;
  }
  return undefined;
}

/** Places where a day may end and a time begin. */
function* cutsOf(text: string): Iterable<number> {
  for (const match of text.matchAll(/(?<=\d)[t ]/g)) yield match.index;
}

function clockFrom(text: string): string | undefined {
  const [, h, m, s, f, m2 = '', s2, f2, zone = ''] = CLOCK.exec(text) ?? [];
  if (h === undefined) return undefined;
  const [minute, second, fraction] = [m ?? m2, s ?? s2 ?? '00', (f ?? f2 ?? '').replace(',', '.')];
  // A leap second is left alone: the text does not show whether it existed.
  if (Number(h) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const offset = offsetFrom(zone);
  return offset === undefined ? undefined : `${h}:${minute}:${second}${fraction}${offset}`;
}

function offsetFrom(zone: string): string | undefined {
  if (/^[a-z]/.test(zone)) return 'Z';
  const hours = zone.slice(1, 3);
  const minutes = zone.slice(3).replace(':', '').padEnd(2, '0');
  return Number(hours) > 23 || Number(minutes) > 59 ? undefined : `${zone[0]}${hours}:${minutes}`;
}

/** From 2001 to 2100, seconds and milliseconds cannot be confused. */
const SECONDS = { from: 1_000_000_000, to: 4_102_444_800 };

/** An instant from a number that can only be Unix seconds, or only milliseconds, of 2001 to 2100; in UTC. */
export function dateTimeFromEpoch(number: number): string | undefined {
  const inRange = (seconds: number): boolean => seconds >= SECONDS.from && seconds < SECONDS.to;
  if (!Number.isInteger(number)) return undefined;
  if (inRange(number)) return new Date(number * 1000).toISOString().replace('.000Z', 'Z');
  return inRange(number / 1000) ? new Date(number).toISOString() : undefined;
}

const monthOf = (name: string): number => 1 + Math.max(MONTHS.indexOf(name), MONTH_NAMES.indexOf(name));

function day(year: number, month: number, dayOf: number, weekday?: string): string | undefined {
  const date = new Date(Date.UTC(2000, 0, 1));
  date.setUTCFullYear(year, month - 1, dayOf);
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== dayOf)
    return undefined;
  const number = date.getUTCDay();
  if (weekday !== undefined && weekday !== DAYS[number] && weekday !== DAY_NAMES[number]) return undefined;
  return date.toISOString().slice(0, 10);
}
