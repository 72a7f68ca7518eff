import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { addressAllowed, checkPath, checkUrl, extractPaths, type UrlPolicy } from '@sallyport/guards';
import { type Figure, figureOf } from '../report/figure.ts';
import { cpuOfEach } from './cpu-of-pass.ts';
import { INNER_URLS } from './encoded-addresses.ts';

const SHOWN = fileURLToPath(new URL('../../../shared/corpora/ssrf-path/', import.meta.url));
const MICROSECONDS_A_URL = 10;

const OUTER_URLS: readonly string[] = [
  'https://api.example.com/v1/items?page=2&size=50',
  'https://example.org:8443/a/b.html#part',
  'http://93.184.215.14/',
  'https://[2606:2800:21f:cb07::1]/x',
  'https://bücher.example.com/suche?q=a',
  'https://127.0.0.1.nip.io.example.com/',
  'https://localhost.example.com/',
];

interface Classes {
  readonly config: Readonly<
    Record<'allowRanges' | 'allowAddresses' | 'denyRanges' | 'denyAddresses' | 'localIPs', readonly string[]>
  > & { readonly selfPort: number };
  readonly cases: readonly { readonly ip: string; readonly port: number; readonly expected: string }[];
}

interface UrlCase {
  readonly input: string;
  readonly base: string | null;
}

/** Which addresses are let through in which clothes, whether URLs are read as the platform reads them, and what it costs. */
export async function measureAddresses(seconds: number): Promise<Figure[]> {
  const inside = INNER_URLS.filter((url) => checkUrl(url).allowed).length;
  const outside = OUTER_URLS.filter((url) => checkUrl(url).allowed).length / OUTER_URLS.length;
  const cost = (what: string, urls: readonly string[]): Figure =>
    figureOf(`addresses: CPU, ${what}`, 'µs', cpuOfEach(urls, seconds, checkUrl), { atMost: MICROSECONDS_A_URL });
  return [
    figureOf('addresses: classed as smokescreen does', 'of cases', classed(), { atLeast: 1 }),
    figureOf('addresses: URLs read as the platform does', 'of cases', readAlike(), { atLeast: 1 }),
    figureOf(`addresses: of ${INNER_URLS.length} URLs that lead inside, allowed`, 'URLs', inside, { atMost: 0 }),
    figureOf('addresses: of URLs that lead outside, allowed', 'of URLs', outside, { atLeast: 1 }),
    cost('one URL that is allowed', OUTER_URLS),
    cost('one URL that leads inside', INNER_URLS),
    figureOf(
      'addresses: CPU, one path',
      'µs',
      cpuOfEach(PATHS, seconds, (path) => checkPath(path, ['/work'])),
    ),
    figureOf('addresses: CPU, paths of one call', 'µs', cpuOfEach(ARGUMENTS, seconds, extractPaths)),
  ];
}

const PATHS: readonly string[] = [
  'src/main.ts',
  '/project/a/b/c.txt',
  '../outside',
  '/project/.env',
  'docs/My Notes.md',
];
const ARGUMENTS: readonly unknown[] = [
  { path: 'src/main.ts', encoding: 'utf8' },
  { command: 'cp ./a.txt /tmp/b.txt && cat /tmp/b.txt', timeout: 5 },
  { query: 'flights from Oslo to Rome in May', url: 'https://example.com/a/b', limit: 10 },
];

function read<T>(name: string): T | undefined {
  return existsSync(SHOWN + name) ? (JSON.parse(readFileSync(SHOWN + name, 'utf8')) as T) : undefined;
}

function classed(): number | undefined {
  const found = read<Classes>('smokescreen_classify.json');
  if (found === undefined) return undefined;
  const { config, cases } = found;
  const self = config.localIPs.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${config.selfPort}`);
  const policy: UrlPolicy = {
    allowedAddresses: [...config.allowRanges, ...config.allowAddresses],
    deniedAddresses: [...config.denyRanges, ...config.denyAddresses, ...self],
  };
  const right = cases.filter(
    ({ ip, port, expected }) => addressAllowed(ip, policy, port) === expected.startsWith('ipAllow'),
  );
  return right.length / cases.length;
}

/** Of what has a base, the URL that the platform makes of both is read again. */
function readAlike(): number | undefined {
  const rows = read<readonly (UrlCase | string)[]>('wpt_urltestdata.json');
  if (rows === undefined) return undefined;
  const texts = rows.flatMap((row) => {
    if (typeof row === 'string') return [];
    return row.base === null ? [row.input] : (URL.parse(row.input, row.base)?.href ?? []);
  });
  const alike = texts.filter((text) => checkUrl(text).href === (URL.parse(text)?.href ?? ''));
  return alike.length / texts.length;
}
