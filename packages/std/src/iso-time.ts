// Hot path: seven times a call, mostly within one second.

const SECOND_MS = 1000;

let second = Number.NaN;
let secondText = '';
let last = Number.NaN;
let lastText = '';

/**
 * Time in ISO 8601 with milliseconds, UTC, as Date writes it. Caches the last one and its second, because Date takes
 * ten times as long.
 * @param ms epoch ms; whole
 * @throws RangeError outside the range of Date
 */
export function isoTime(ms: number): string {
  if (ms === last) return lastText;
  const of = Math.floor(ms / SECOND_MS);
  if (of !== second) {
    secondText = new Date(of * SECOND_MS).toISOString().slice(0, -'000Z'.length);
    second = of;
  }
  const rest = Math.trunc(ms - of * SECOND_MS);
  lastText = `${secondText}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}Z`;
  last = ms;
  return lastText;
}
