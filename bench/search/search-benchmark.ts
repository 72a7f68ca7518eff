import { fileURLToPath } from 'node:url';
import { createLocalEmbedder } from '../../packages/sallyport/src/registry/embedders/local/local-embedder.ts';
import { REFERENCE_PAIRS } from '../../packages/sallyport/src/registry/search/vectors/measure-traits.ts';
import type { BenchmarkRun } from '../report/benchmark.ts';
import { type Bound, besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { type Latency, measureLatency } from './latency.ts';
import { miniSearchFinder } from './minisearch-finder.ts';
import { embeddingFinder, type Finder, recallOf, searchFinder } from './recall.ts';
import { rememberingEmbedder, searchOfSet, vectorOfTool } from './search-of-set.ts';
import type { Model } from './synthetic.ts';
import { readToolSet, type ToolSet } from './tool-set.ts';

const SHOWN = fileURLToPath(new URL('../../../shared/corpora/tool-retrieval/', import.meta.url));
const SHOWN_SETS = ['metatool', 'bfcl-multiple'];

/** What each shown set should reach; BFCL is bound to the keywords of the same run. */
const LEAST_RECALL: Readonly<Record<string, number>> = { metatool: 0.78 };
const KEYWORDS_LESS = 0.01;

const SIZES: readonly { readonly tools: number; readonly p95Ms: number }[] = [
  { tools: 1_000, p95Ms: 2 },
  { tools: 10_000, p95Ms: 10 },
  { tools: 100_000, p95Ms: 50 },
];

const PEER = 'MiniSearch';

/** How much of what is wanted is found, how fast, and what it takes. */
export async function runSearch({ seconds, set, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const sets = setsOf(set, report);
  const local = rememberingEmbedder(createLocalEmbedder());
  try {
    const figures: Figure[] = [];
    for (const each of sets) figures.push(...(await recallFigures(each, local, report)));
    if (set !== undefined) return figures;
    const model = await modelOf(sets[0], local);
    for (const { tools, p95Ms } of SIZES) {
      report(`${tools} tools`);
      figures.push(...latencyFigures(tools, p95Ms, await measureLatency(model, tools, seconds)));
    }
    return figures;
  } finally {
    await local.close();
  }
}

function setsOf(folder: string | undefined, report: BenchmarkRun['report']): readonly ToolSet[] {
  const folders = folder === undefined ? SHOWN_SETS.map((name) => SHOWN + name) : [folder];
  return folders.flatMap((path) => {
    const set = readToolSet(path);
    if (set !== undefined) return [set];
    if (folder !== undefined) throw new Error(`There are no tools.jsonl and queries.jsonl in ${path}.`);
    report(`skipped, for it is not here: ${path}`);
    return [];
  });
}

async function recallFigures(
  set: ToolSet,
  local: ReturnType<typeof rememberingEmbedder>,
  report: BenchmarkRun['report'],
): Promise<readonly Figure[]> {
  report(
    `${set.name}: ${set.tools.length} tools, ${set.queries.length} queries; each is embedded once, which takes minutes`,
  );
  const embed = (texts: readonly string[]) => local.embed(texts, new AbortController().signal);
  await using words = await searchOfSet(set.tools);
  await using both = await searchOfSet(set.tools, local);
  const recall = (find: Finder) => recallOf(set.queries, find);
  const keywords = await recall(searchFinder(words.search));
  const meaning = await recall(await embeddingFinder(set, embed));
  const hybrid = await recall(searchFinder(both.search, 0));
  const usual = await recall(searchFinder(both.search));
  const peer = await miniSearchFinder(set.tools);
  const of = (what: string): string => `${set.name}: recall@5 ${what}`;
  return [
    besidePeer(share(of('by keywords'), keywords), PEER, peer === undefined ? undefined : await recall(peer)),
    share(of('by embedding'), meaning),
    share(of('hybrid'), hybrid, boundOf(set.name, keywords)),
    share(of('hybrid, default threshold'), usual, boundOf(set.name, keywords)),
  ];
}

const boundOf = (name: string, keywords: number): Bound => ({
  atLeast: LEAST_RECALL[name] ?? keywords - KEYWORDS_LESS,
});

const share = (name: string, value: number, bound?: Bound): Figure => figureOf(name, 'groups found', value, bound);

/** Of the shown set, or of the few texts that the layer measures models with. */
async function modelOf(set: ToolSet | undefined, embedder: Model['embedder']): Promise<Model> {
  const embed = (texts: readonly string[]) => embedder.embed(texts, new AbortController().signal);
  if (set === undefined) {
    const descriptions = REFERENCE_PAIRS.map(([, tool]) => tool);
    const requests = REFERENCE_PAIRS.map(([request]) => request);
    return { descriptions, requests, vectors: await embed(descriptions), embedder };
  }
  const vectors = [];
  for (const { manifest } of set.tools) vectors.push(await vectorOfTool(manifest, embed));
  const step = Math.max(1, Math.floor(set.queries.length / 200));
  return {
    descriptions: set.tools.map(({ manifest }) => manifest.description),
    requests: set.queries.filter((_, at) => at % step === 0).map(({ query }) => query),
    vectors,
    embedder,
  };
}

function latencyFigures(tools: number, p95Ms: number, { p50Ms, p95Ms: measured, bytesPerTool }: Latency): Figure[] {
  const among = `among ${tools.toLocaleString('en').replaceAll(',', ' ')} tools`;
  return [
    figureOf(`search p50, query embedded, ${among}`, 'ms', p50Ms),
    figureOf(`search p95, query embedded, ${among}`, 'ms', measured, { atMost: p95Ms }),
    figureOf(`memory for 1 000 tools, ${among}`, 'MB', (bytesPerTool * 1000) / 1e6),
  ];
}
