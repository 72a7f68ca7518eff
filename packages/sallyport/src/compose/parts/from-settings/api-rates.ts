import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { RateAlgorithm, type RateLimit } from '../../../../api/schemas/tool-manifest.ts';

const ENTRY =
  /^(mcp:[A-Za-z0-9][A-Za-z0-9-]{0,39}|(?!mcp:)[^=\s/\\?#@]{1,253})=([1-9]\d{0,7})\/([1-9]\d{0,6})(?:\/(\w+))?$/;

/**
 * Rates of services, from `rate.apis`.
 * @throws ToolLayerError E3801 naming the entry that cannot be parsed, or occurs twice
 */
export function apiRatesOf(entries: readonly string[]): ReadonlyMap<string, RateLimit> {
  const rates = new Map<string, RateLimit>();
  for (const entry of entries) {
    const [, place = '', perMinute, burst, word] = ENTRY.exec(entry.trim()) ?? [];
    const name = place.startsWith('mcp:') ? place : hostOf(place);
    if (name === undefined) throw faulty(entry, 'is not written like api.example.com=600/50 or mcp:github=600/50');
    if (rates.has(name)) throw faulty(entry, 'names its service twice');
    const algorithm = RateAlgorithm.enum.find((each) => each === word);
    if (word !== undefined && algorithm === undefined)
      throw faulty(entry, `names an unknown algorithm; the algorithms are ${RateAlgorithm.enum.join(', ')}`);
    const limit = { per_minute: Number(perMinute), burst: Number(burst) };
    rates.set(name, algorithm === undefined ? limit : { ...limit, algorithm });
  }
  return rates;
}

/** In the form of `URL.host`: lower case, without the default port. */
function hostOf(place: string): string | undefined {
  return URL.parse(`https://${place}/`)?.host;
}

const faulty = (entry: string, what: string): ToolLayerError =>
  new ToolLayerError('E3801', `The entry "${entry}" of rate.apis ${what}.`);
