import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRedactor, type RedactionFinding, type RedactionKind } from '@sallyport/guards';
import { KiB } from '@sallyport/std/bytes';
import { ROUNDS } from '../report/benchmark.ts';
import { type Bound, besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { openSecretlint, type SecretPeer } from './secretlint-peer.ts';

const CORPORA = fileURLToPath(new URL('../../../shared/corpora/', import.meta.url));
const PEER = 'secretlint preset';

const STRUCTURED: readonly RedactionKind[] = ['email', 'ssn', 'card', 'iban', 'ip'];
const SECRETS: ReadonlySet<RedactionKind> = new Set([
  'private_key',
  'token',
  'api_key',
  'password',
  'connection_string',
]);
/** Kinds of the recognisers that have one of ours, and of the words that stand for what was taken out. */
const RECOGNISERS: Readonly<Record<string, RedactionKind>> = {
  email: 'email',
  us_ssn: 'ssn',
  credit_card: 'card',
  iban: 'iban',
  ip: 'ip',
  phone: 'phone',
};
const WORDS: Readonly<Record<string, RedactionKind>> = {
  EMAIL_ADDRESS: 'email',
  US_SOCIAL_SECURITY_NUMBER: 'ssn',
  CREDIT_CARD_NUMBER: 'card',
  IP_ADDRESS: 'ip',
  PHONE_NUMBER: 'phone',
};
/** Benign texts that are mail or tables of people: addresses in them are real. */
const CORRESPONDENCE: ReadonlySet<string> = new Set(['email', 'email-file', 'csv']);

/** Values of the set that are placeholders or published samples, which are left alone on purpose. */
const PLACEHOLDER = /x{8}|Z{12}|eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4g/;

interface Recognised {
  readonly recognizer: string;
  readonly text: string;
  readonly expected_count: number;
}
interface Replaced {
  readonly input: string;
  readonly expected: string;
}
interface SecretCase {
  readonly plugin: string;
  readonly text: string;
  /** Null where the source only says that something is found. */
  readonly secret: boolean | null;
}
interface Benign {
  readonly kind: string;
  readonly text: string;
}

const redactor = createRedactor();
const found = (text: string): readonly RedactionFinding[] => redactor.text(text).findings;

/** What is found of personal data and secrets, what is altered for nothing, and what it costs. */
export async function measureRedaction(seconds: number): Promise<Figure[]> {
  if (!existsSync(join(CORPORA, 'pii-secrets'))) return [figureOf('redaction: no shown set', 'cases', undefined)];
  const benign = read<Benign>('injection/benign.jsonl');
  const commands = read<{ readonly cmd: string }>('shell/tldr_commands.jsonl').map(({ cmd }) => cmd);
  return [
    ...personalFigures(),
    ...(await secretFigures(benign)),
    ...alteredFigures(benign, commands),
    cost(benign, seconds),
  ];
}

function personalFigures(): Figure[] {
  const cases = personalCases();
  const recall = (kinds: readonly RedactionKind[]): number => {
    const wanted = cases.filter(({ kind }) => kinds.includes(kind));
    const hit = wanted.filter(
      ({ text, kind, count }) => found(text).filter((finding) => finding.kind === kind).length >= count,
    );
    return hit.length / wanted.length;
  };
  return [
    share('redaction: email, SSN, card, IBAN, IP found', 'recall', recall(STRUCTURED), { atLeast: 0.97 }),
    share('redaction: phone numbers found', 'recall', recall(['phone']), { atLeast: 0.67 }),
  ];
}

function personalCases(): { readonly text: string; readonly kind: RedactionKind; readonly count: number }[] {
  const recognised = read<Recognised>('pii-secrets/presidio_recognizer_cases.jsonl').flatMap(
    ({ recognizer, text, expected_count: count }) => {
      const kind = RECOGNISERS[recognizer];
      return kind === undefined || count === 0 ? [] : [{ text, kind, count }];
    },
  );
  const replaced = read<Replaced>('pii-secrets/redact_pii_cases.jsonl').flatMap(({ input, expected }) =>
    Object.entries(WORDS).flatMap(([word, kind]) => {
      const count = expected.split(word).length - 1;
      return count === 0 ? [] : [{ text: input, kind, count }];
    }),
  );
  return [...recognised, ...replaced];
}

async function secretFigures(benign: readonly Benign[]): Promise<Figure[]> {
  const cases = read<SecretCase>('pii-secrets/detect_secrets_cases.jsonl').filter(
    ({ plugin, text }) => plugin !== 'ip_public' && !PLACEHOLDER.test(text),
  );
  const peer = await openSecretlint();
  const isFound = (text: string): boolean => found(text).some(({ kind }) => SECRETS.has(kind));
  const texts = (secret: boolean): string[] =>
    cases.filter((each) => (each.secret !== false) === secret).map(({ text }) => text);
  const benignTexts = benign.map(({ text }) => text);
  const hits = await peerHits(peer, texts(true));
  return [
    beside(
      'redaction: secrets found',
      `of ${texts(true).length}`,
      texts(true).filter(isFound).length,
      hits,
      (found) => ({
        atLeast: 2 * found,
      }),
    ),
    beside(
      'redaction: secrets seen where none is said to be',
      `of ${texts(false).length}`,
      texts(false).filter(isFound).length,
      await peerHits(peer, texts(false)),
      (found) => ({ atMost: found }),
    ),
    beside(
      'redaction: secrets seen in benign texts',
      `of ${benign.length}`,
      benignTexts.filter(isFound).length,
      await peerHits(peer, benignTexts),
      (found) => ({ atMost: found }),
    ),
  ];
}

function beside(
  figure: string,
  unit: string,
  value: number,
  peerValue: number | undefined,
  bound: (peerValue: number) => Bound,
): Figure {
  return besidePeer(
    figureOf(figure, unit, value, peerValue === undefined ? undefined : bound(peerValue)),
    PEER,
    peerValue,
  );
}

async function peerHits(peer: SecretPeer | undefined, texts: readonly string[]): Promise<number | undefined> {
  if (peer === undefined) return undefined;
  let hits = 0;
  for (const text of texts) if (await peer.finds(text)) hits += 1;
  return hits;
}

function alteredFigures(benign: readonly Benign[], commands: readonly string[]): Figure[] {
  const altered = (texts: readonly string[]): number =>
    texts.filter((text) => found(text).length > 0).length / texts.length;
  const others = benign.filter(({ kind }) => !CORRESPONDENCE.has(kind)).map(({ text }) => text);
  return [
    share('redaction: benign texts altered, without mail and tables of people', 'of all', altered(others), {
      atMost: 0.02,
    }),
    share('redaction: shell commands altered', 'of all', altered(commands), { atMost: 0.02 }),
    share(
      'redaction: benign texts altered, real addresses in mail too',
      'of all',
      altered(benign.map(({ text }) => text)),
    ),
  ];
}

/** CPU of one pass over everything. */
function cost(benign: readonly Benign[], seconds: number): Figure {
  const texts = benign.map(({ text }) => text);
  const kilobytes = texts.reduce((sum, text) => sum + text.length, 0) / KiB;
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const until = performance.now() + (seconds * 1000) / ROUNDS;
    const before = process.cpuUsage();
    let passes = 0;
    do {
      for (const text of texts) found(text);
      passes += 1;
    } while (performance.now() < until);
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / passes / kilobytes);
  }
  return figureOf('redaction: CPU for 1 KB of benign texts', 'µs', median(rounds), { atMost: 50 });
}

function share(figure: string, unit: string, value: number, bound?: Bound): Figure {
  return figureOf(figure, unit, value, bound);
}

function read<T>(name: string): T[] {
  const lines = readFileSync(join(CORPORA, name), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}
