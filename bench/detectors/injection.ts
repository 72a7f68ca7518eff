import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { detectInjection, type SanitiseProfile, sanitise, type Threat } from '@sallyport/guards';
import { ROUNDS } from '../report/benchmark.ts';
import { besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';

const SHOWN = fileURLToPath(new URL('../../../shared/corpora/injection/', import.meta.url));

interface Attack {
  readonly kind: string;
  readonly payload: string;
}

interface Benign {
  readonly kind: string;
  readonly text: string;
}

type Detects = (text: string, threat?: Threat) => boolean;

const KINDS: readonly (readonly [kind: string, threat: Threat, recallMin: number])[] = [
  ['sqli', 'sql_injection', 0.8],
  ['xss', 'xss', 0.82],
  ['cmdi', 'command_injection', 0.8],
];
const FALSE_MAX = 0.02;
const FALSE_ARGUMENTS_MAX = 0.01;
const MICROSECONDS_PER_KB = 20;

/** The patterns that 000 §3.3.6 gives as defaults. */
const PEER = "the specification's patterns";
const NAIVE: Readonly<Record<Threat, RegExp>> = {
  sql_injection: /('|(--)|(;)|(\|\|)|(\*))/,
  xss: /(<script|javascript:|onerror=)/,
  command_injection: /(;|\||`|\$\()/,
};
const naive: Detects = (text, threat) =>
  threat === undefined ? Object.values(NAIVE).some((pattern) => pattern.test(text)) : NAIVE[threat].test(text);

/** What is caught of the shown attacks, what is left alone of the shown honest texts, and what it costs. */
export async function measureInjection(seconds: number): Promise<Figure[]> {
  const attacks = read<Attack>('attack_payloads.jsonl');
  const benign = read<Benign>('benign.jsonl');
  if (attacks === undefined || benign === undefined) return [figureOf('injection: recall', 'of attacks', undefined)];
  // First, so that the compiler knows honest texts by the default profile, as in a layer at work, and no thousands of attacks.
  const costs = costFigures(benign, seconds);
  return [
    ...KINDS.map(([kind, threat, recallMin]) => recallFigure(attacks, kind, threat, recallMin)),
    ...falseFigures(benign),
    figureOf(
      'injection: false positives, strict, on tool arguments',
      'of texts',
      shareOf(ofKind(benign, 'tool-arg'), by('strict')),
    ),
    ...costs,
  ];
}

function read<T>(name: string): readonly T[] | undefined {
  if (!existsSync(SHOWN + name)) return undefined;
  const lines = readFileSync(SHOWN + name, 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

function by(profile: SanitiseProfile): Detects {
  return (text, threat) =>
    detectInjection(text, threat === undefined ? { profile } : { profile, threats: [threat] }).length > 0;
}

function recallFigure(attacks: readonly Attack[], kind: string, threat: Threat, atLeast: number): Figure {
  const texts = attacks.filter((each) => each.kind === kind).map(({ payload }) => payload);
  const recall = (detects: Detects): number => texts.filter((text) => detects(text, threat)).length / texts.length;
  const figure = figureOf(`injection: recall ${threat}`, 'of attacks', recall(by('default')), { atLeast });
  return besidePeer(figure, PEER, recall(naive));
}

function falseFigures(benign: readonly Benign[]): Figure[] {
  const kinds = [...new Set(benign.map(({ kind }) => kind))];
  const of = (what: string, texts: readonly string[], atMost?: number): Figure => {
    const bound = atMost === undefined ? undefined : { atMost };
    const figure = figureOf(`injection: false positives, ${what}`, 'of texts', shareOf(texts, by('default')), bound);
    return besidePeer(figure, PEER, shareOf(texts, naive));
  };
  return [
    of(
      'all honest texts',
      benign.map(({ text }) => text),
      FALSE_MAX,
    ),
    ...kinds.map((kind) => of(kind, ofKind(benign, kind), kind === 'tool-arg' ? FALSE_ARGUMENTS_MAX : undefined)),
  ];
}

function ofKind(benign: readonly Benign[], kind: string): readonly string[] {
  return benign.filter((each) => each.kind === kind).map(({ text }) => text);
}

function shareOf(texts: readonly string[], detects: Detects): number {
  return texts.filter((text) => detects(text)).length / texts.length;
}

function costFigures(benign: readonly Benign[], seconds: number): Figure[] {
  const texts = benign.map(({ text }) => text);
  const kilobytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1024;
  const all = cpuOfPass(texts, seconds, (text) => void detectInjection(text));
  const short = ofKind(benign, 'tool-arg');
  const one = cpuOfPass(short, seconds, (text) => void detectInjection(text));
  const whole = cpuOfPass(short, seconds, (text) => void sanitise({ name: text, limit: 10 }));
  return [
    figureOf('injection: CPU, honest texts', 'µs per KB', all === undefined ? undefined : all / kilobytes, {
      atMost: MICROSECONDS_PER_KB,
    }),
    figureOf('injection: CPU, one tool argument', 'µs', one === undefined ? undefined : one / short.length),
    figureOf('injection: CPU, sanitise an object of two', 'µs', whole === undefined ? undefined : whole / short.length),
  ];
}

/** CPU time of one pass over all texts, in µs: median over the rounds, after one that is not counted. */
function cpuOfPass(texts: readonly string[], seconds: number, act: (text: string) => void): number | undefined {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const start = process.cpuUsage();
    const end = performance.now() + (seconds * 1000) / ROUNDS;
    let passes = 0;
    for (; passes === 0 || performance.now() < end; passes++) for (const text of texts) act(text);
    const { user, system } = process.cpuUsage(start);
    if (round > 0) times.push((user + system) / passes);
  }
  return median(times);
}
