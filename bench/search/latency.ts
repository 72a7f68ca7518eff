import { heldBytes } from '@sallyport/std/held-bytes';
import { ROUNDS } from '../report/benchmark.ts';
import { median, percentile, timeSeries } from '../report/statistics.ts';
import { searchOfSet, TENANT } from './search-of-set.ts';
import { type Model, perturbingEmbedder, syntheticTools } from './synthetic.ts';

/** What a search over many tools costs. */
export interface Latency {
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of the index of words and the vectors, the tools themselves apart. */
  readonly bytesPerTool: number;
}

/** Requests that take turns; fewer than the search remembers, so that none is embedded while it is measured. */
const REQUESTS_MAX = 200;
/** Searches that are not measured: code gets compiled. */
const WARM_UP = 50;

/** Searches with requests whose vectors are known, among `count` tools, for so many seconds in all rounds. */
export async function measureLatency(model: Model, count: number, seconds: number): Promise<Latency> {
  const tools = syntheticTools(model, count);
  const before = heldBytes();
  await using subject = await searchOfSet(tools, perturbingEmbedder(model));
  const bytesPerTool = (heldBytes() - before) / count;
  const requests = model.requests.slice(0, REQUESTS_MAX);
  const ask = (at: number) =>
    subject.search.search([TENANT], { text: requests[at % requests.length] ?? '', page: 1, pageSize: 50 });
  for (const at of requests.keys()) await ask(at);
  for (let at = 0; at < WARM_UP; at += 1) await ask(at);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await oneRound(ask, (seconds / ROUNDS) * 1000));
  return {
    p50Ms: median(rounds.map(({ p50 }) => p50)) ?? Number.NaN,
    p95Ms: median(rounds.map(({ p95 }) => p95)) ?? Number.NaN,
    bytesPerTool,
  };
}

async function oneRound(ask: (at: number) => Promise<unknown>, ms: number): Promise<{ p50: number; p95: number }> {
  const times = timeSeries();
  const end = performance.now() + ms;
  for (let at = 0; performance.now() < end; at += 1) {
    const begin = performance.now();
    await ask(at);
    times.add(performance.now() - begin);
  }
  const sorted = times.sorted();
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) };
}
