import type { Command } from 'commander';
import type {
  UpstreamImportRequest,
  UpstreamImportResponse,
  UpstreamPlan,
} from '../../../../../api/schemas/upstream.ts';
import { EXIT } from '../../cli-parts.ts';
import type { AskingRun, CommandKit, CommandWork } from '../../command-kit.ts';
import { askConsent, canAsk } from '../../input/ask-consent.ts';
import { collect } from '../../input/option-values.ts';
import { readTextFile } from '../../input/read-source.ts';
import type { Printer } from '../../output/printer.ts';
import { addressOf, byServer, mountOf } from './grants.ts';

interface ImportOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly mount?: readonly string[];
  readonly network?: readonly string[];
}

/** Servers that are added at the same time: adding one is mostly waiting for it. */
const AT_ONCE = 4;

/** `upstreams import`. */
export function addImportCommand(upstreams: Command, kit: CommandKit): void {
  const importFile = upstreams
    .command('import')
    .description("add the servers of a desktop client's mcpServers JSON")
    .argument('<file>', 'the JSON file, as it stands')
    .option('--dry-run', 'say what would happen; nothing is started, installed or written')
    .option('--yes', 'packages that servers need may be downloaded and installed')
    .option('--mount <name=path[:rw]>', 'folder that this server sees, read-only unless :rw', collect)
    .option('--network <name=host:port>', 'address that this server may reach', collect);
  const run: AskingRun<ImportOptions> = async (work, [file], { dryRun, yes, ...given }) => {
    const { layer, caller, print, parts } = work;
    const source = String(file);
    const configuration = await readTextFile(source, parts.io);
    const grants = {
      mounts: byServer(given.mount, '--mount', (text) => mountOf(text, parts.io.cwd)),
      network: byServer(given.network, '--network', addressOf),
    };
    const found = await layer.ask('upstreams.import', { configuration, source, dry_run: true, ...grants }, caller);
    if (!print.json) printFound(found, print);
    if (!print.json && dryRun === true) print.note(`To import: ${lineOf(source, found, given.network ?? [])}`);
    if (dryRun === true) {
      if (print.json) print.value(found);
      return isWhole(found) && found.planned.every(canStart) ? EXIT.ok : EXIT.refused;
    }
    const install = yes === true || (await maySo(work, found));
    const whole = await importEach(work, { configuration, source, ...grants, install }, found);
    if (print.json) print.value(whole);
    else print.line(summaryOf(whole));
    return isWhole(whole) ? EXIT.ok : EXIT.refused;
  };
  kit.adding(importFile, run, ({ dryRun }) => (dryRun === true ? 'borrow' : 'make'));
}

/** Asks once for everything that would be installed; without a terminal the answer is no. */
async function maySo({ parts, print }: CommandWork, { planned }: UpstreamImportResponse): Promise<boolean> {
  const packages = planned.flatMap((plan) => plan.package ?? []);
  if (packages.length === 0 || !canAsk(parts.io)) return false;
  return askConsent(parts.io, print, `Install these packages into the data folder? ${packages.join(', ')}`);
}

/** Adds the servers and reports each one as soon as its outcome is known. */
async function importEach(
  { layer, caller, print }: CommandWork,
  {
    install,
    ...file
  }: Pick<UpstreamImportRequest, 'configuration' | 'source' | 'mounts' | 'network'> & {
    readonly install: boolean;
  },
  found: UpstreamImportResponse,
): Promise<UpstreamImportResponse> {
  const whole = { ...found, refused: [...found.refused] };
  const names = found.planned.map(({ name }) => name);
  const worker = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const input = { ...file, only: [name], ...(install ? { install } : {}) };
      const one = await layer.ask('upstreams.import', input, caller);
      whole.imported.push(...one.imported);
      whole.kept.push(...one.kept);
      whole.refused.push(...one.refused);
      if (!print.json) printEnd(one, print);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return whole;
}

/** The command line that imports the servers found; to let a server write, append `:rw` to its folder. */
function lineOf(source: string, { planned }: UpstreamImportResponse, network: readonly string[]): string {
  const mounts = planned.flatMap(({ name, mounts: seen = [] }) =>
    seen.map(({ path, mode }) => ['--mount', `${name}=${path}${mode === 'rw' ? ':rw' : ''}`]),
  );
  const install = planned.some(({ start }) => start === 'install') ? ['--yes'] : [];
  const words = [source, ...install, ...mounts.flat(), ...network.flatMap((address) => ['--network', address])];
  return ['sallyport upstreams import', ...words.map(shellWord)].join(' ');
}

/** Quotes a word for the shell. */
const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

const START: Readonly<Record<UpstreamPlan['start'], string>> = {
  ready: 'ready to start',
  install: 'needs an install',
  container: 'needs a container',
  missing: 'cannot start',
  http: 'streamable HTTP',
  sse: 'HTTP+SSE',
  embedded: 'in the layer',
  disabled: 'disabled',
};

function printFound({ planned, refused, notes }: UpstreamImportResponse, print: Printer): void {
  if (planned.length > 0) {
    const rows = planned.map(({ name, start, package: wanted, reason }) => [
      name,
      START[start],
      wanted ?? reason ?? '',
    ]);
    print.table(['NAME', 'START', 'REMARKS'], rows);
  }
  for (const { name, mounts = [] } of planned)
    for (const { path, mode } of mounts)
      if (mode === 'ro')
        print.note(
          `${name}: ${path} is visible read-only; say --mount ${shellWord(`${name}=${path}:rw`)} to allow writing.`,
        );
  for (const note of notes) print.note(note);
  for (const { name, reason } of refused) print.note(`left out ${name}: ${reason}`);
}

function printEnd({ imported, kept, refused }: UpstreamImportResponse, print: Printer): void {
  for (const { upstream, registrations } of imported) {
    const lost = registrations.filter(({ outcome }) => outcome === 'refused').length;
    const waiting = upstream.quarantined_count;
    print.line(
      [
        `${upstream.name}: ${upstream.state}, ${upstream.tool_count} tools`,
        ...(waiting > 0 ? [`${waiting} in quarantine`] : []),
        ...(lost > 0 ? [`${lost} refused`] : []),
      ].join(', '),
      'good',
    );
  }
  for (const { name, reason } of kept)
    print.line(`${name}: kept and tried again, not connected yet: ${reason}`, 'warning');
  for (const { name, reason } of refused) print.line(`${name}: left out: ${reason}`, 'bad');
}

const summaryOf = ({ imported, kept, refused }: UpstreamImportResponse): string =>
  `${imported.length} in, ${kept.length} kept and tried again, ${refused.length} left out`;

const isWhole = ({ kept, refused }: UpstreamImportResponse): boolean => kept.length === 0 && refused.length === 0;
const canStart = ({ start }: UpstreamPlan): boolean => start !== 'missing' && start !== 'container';
