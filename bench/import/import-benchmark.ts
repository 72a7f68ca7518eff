import type { ToolManifest } from '../../packages/sallyport/api/schemas/tool-manifest.ts';
import { importOpenApi } from '../../packages/sallyport/src/registry/importers/openapi/openapi-importer.ts';
import type { BenchmarkRun } from '../report/benchmark.ts';
import { type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { type PublicDocument, publicDocuments } from './documents.ts';
import { measureRegistry, type RegistryMeasured } from './measure-registry.ts';

const WARM_UP_ROUNDS = 2;
const REGISTRY_ROUNDS = 3;
/** The documents of public APIs are imported for another server. */
const BASE_URL = 'https://api.example.com';

/** All documents once. */
interface Round {
  readonly ms: number;
  readonly cpuMs: number;
  readonly manifests: readonly (readonly ToolManifest[])[];
}

/** Public OpenAPI documents, text to manifests, and those into a registry. */
export async function runImport({ seconds, report }: BenchmarkRun): Promise<readonly Figure[]> {
  const documents = publicDocuments();
  if (documents.length === 0) report('the documents are not there: corpora/openapi/specs beside the repository');
  const rounds: Round[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await importAll(documents);
  report('importing');
  const end = performance.now() + seconds * 1000;
  while (documents.length > 0 && (rounds.length === 0 || performance.now() < end)) {
    const round = await importAll(documents);
    // What all rounds made together would fill the heap and be measured with them.
    rounds.push(rounds.length === 0 ? round : { ...round, manifests: [] });
  }
  report('registering');
  const registered: RegistryMeasured[] = [];
  const manifests = rounds[0]?.manifests;
  for (let round = 0; manifests !== undefined && round < REGISTRY_ROUNDS; round += 1) {
    registered.push(await measureRegistry(manifests));
  }
  return figures(documents, rounds, registered);
}

async function importAll(documents: readonly PublicDocument[]): Promise<Round> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const manifests: (readonly ToolManifest[])[] = [];
  for (const [index, { text }] of documents.entries()) {
    // Some documents have the same title; under their own names none takes another's ids.
    const imported = await importOpenApi(text, { baseUrl: BASE_URL, name: `document-${index}` });
    manifests.push(imported.manifests);
  }
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000, manifests };
}

function figures(
  documents: readonly PublicDocument[],
  rounds: readonly Round[],
  registered: readonly RegistryMeasured[],
): Figure[] {
  const [first] = rounds;
  const tools = first?.manifests.reduce((sum, one) => sum + one.length, 0);
  const whole = first?.manifests.filter((one, index) => one.length === documents[index]?.operations).length;
  const ms = median(rounds.map((round) => round.ms));
  const cpuMs = median(rounds.map((round) => round.cpuMs));
  const perSecond = (count: number | undefined, took: number | undefined): number | undefined =>
    count === undefined || took === undefined ? undefined : (count / took) * 1000;
  const share = (value: number | undefined, of: number | undefined): number | undefined =>
    value === undefined || of === undefined || of === 0 ? undefined : value / of;
  const middle = (member: keyof RegistryMeasured): number | undefined =>
    median(registered.map((round) => round[member]));
  const refused = middle('refused');
  const kilobytes = share(middle('bytes'), (tools ?? 0) * BYTES_IN_KILOBYTE);
  return [
    figureOf('documents with every operation', 'documents', whole, { atLeast: DOCUMENTS }),
    figureOf('operations imported', 'tools', tools, { atLeast: OPERATIONS }),
    figureOf('documents a second', 'documents/s', perSecond(documents.length, ms), { atLeast: 100 }),
    figureOf('operations a second', 'tools/s', perSecond(tools, ms)),
    figureOf('CPU a document', 'ms', share(cpuMs, documents.length), { atMost: 10 }),
    figureOf('refused by the registry', 'tools', refused, { atMost: 0 }),
    figureOf('registered a second', 'tools/s', perSecond(tools, middle('ms'))),
    figureOf('registered again a second', 'tools/s', perSecond(tools, middle('againMs'))),
    figureOf('memory a registered tool', 'kB', kilobytes),
  ];
}

const DOCUMENTS = 70;
const OPERATIONS = 3512;
const BYTES_IN_KILOBYTE = 1000;
