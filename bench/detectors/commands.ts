import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkCommand } from '@sallyport/guards';
import { ROUNDS } from '../report/benchmark.ts';
import { type Bound, besidePeer, type Figure, figureOf } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { HIDDEN_HARM } from './hidden-harm.ts';

const SHOWN = fileURLToPath(new URL('../../../shared/corpora/shell/', import.meta.url));

interface LabelledCommand {
  readonly argv: readonly string[];
  readonly label: string;
}

interface NestedCommand {
  readonly fn: string;
  readonly input: string;
  readonly expected: unknown;
}

interface ManualPage {
  readonly cmd: string;
}

const NOT_APPROVED_MIN = 28 / 30;
const FALSE_MAX = 0.01;
const MICROSECONDS_MAX = 50;

/** The patterns that 002 names for a blocklist, and those that such lists usually hold. */
const PEER = 'a list of patterns';
const PATTERNS =
  /\$\(|`|<<<|<\(|\brm\s+-\w*[rf]|\bsudo\b|\bmkfs|\bdd\s+if=|:\(\)\s*\{|>\s*\/dev\/sd|\bshutdown\b|\breboot\b|(?:curl|wget)[^|]*\|\s*(?:ba)?sh\b|\bchmod\s+-R\s+777/;

/** What is blocked and what is let be of the shown commands, what is seen within them, and what it costs. */
export async function measureCommands(seconds: number): Promise<Figure[]> {
  const labelled = read<LabelledCommand>('codex_command_cases.jsonl');
  const nested = read<NestedCommand>('gemini_cli_shell_cases.jsonl');
  const pages = read<ManualPage>('tldr_commands.jsonl');
  return [
    verdictFigure(labelled, 'dangerous', ['blocked'], { atLeast: 1 }),
    verdictFigure(labelled, 'not-auto-approved', ['ask', 'blocked'], { atLeast: NOT_APPROVED_MIN }),
    verdictFigure(labelled, 'safe', ['safe'], { atLeast: 1 }),
    figureOf('commands: nested commands seen', 'of commands', nested && seenShare(nested), { atLeast: 1 }),
    hiddenFigure(),
    falseFigure(pages),
    ...costFigures(pages, seconds),
  ];
}

function read<T>(name: string): readonly T[] | undefined {
  if (!existsSync(SHOWN + name)) return undefined;
  const lines = readFileSync(SHOWN + name, 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

function verdictFigure(
  cases: readonly LabelledCommand[] | undefined,
  label: string,
  wanted: readonly string[],
  bound: Bound,
): Figure {
  const chosen = cases?.filter((each) => each.label === label);
  const share = chosen && shareOf(chosen, ({ argv }) => wanted.includes(checkCommand(argv).verdict));
  return figureOf(`commands: ${label} are ${wanted.join(' or ')}`, 'of commands', share, bound);
}

/** Names of all commands that should be found, as often as they should. */
function seenShare(cases: readonly NestedCommand[]): number {
  let wanted = 0;
  let seen = 0;
  for (const { fn, input, expected } of cases) {
    const texts = fn === 'stripShellWrapper' ? [expected] : Array.isArray(expected) ? expected : [];
    const names = checkCommand(input).commands.map(({ name }) => name);
    for (const text of texts) {
      wanted += 1;
      const at = names.indexOf(String(text).trim().split(/\s+/)[0] ?? '');
      if (at < 0) continue;
      seen += 1;
      names.splice(at, 1);
    }
  }
  return seen / wanted;
}

function hiddenFigure(): Figure {
  const share = shareOf(HIDDEN_HARM, (command) => checkCommand(command).verdict === 'blocked');
  const figure = figureOf('commands: hidden harm blocked (own set)', 'of commands', share, { atLeast: 0.95 });
  return besidePeer(
    figure,
    PEER,
    shareOf(HIDDEN_HARM, (command) => PATTERNS.test(command)),
  );
}

function falseFigure(pages: readonly ManualPage[] | undefined): Figure {
  const share = pages && shareOf(pages, ({ cmd }) => checkCommand(cmd).verdict === 'blocked');
  const figure = figureOf('commands: manual pages blocked', 'of commands', share, { atMost: FALSE_MAX });
  return besidePeer(figure, PEER, pages && shareOf(pages, ({ cmd }) => PATTERNS.test(cmd)));
}

function shareOf<T>(all: readonly T[], holds: (each: T) => boolean): number {
  return all.filter(holds).length / all.length;
}

function costFigures(pages: readonly ManualPage[] | undefined, seconds: number): Figure[] {
  const commands = pages?.map(({ cmd }) => cmd) ?? HIDDEN_HARM;
  return [
    figureOf('commands: CPU, one command', 'µs', cpuOf(commands, seconds), { atMost: MICROSECONDS_MAX }),
    figureOf('commands: CPU, one with hidden harm', 'µs', cpuOf(HIDDEN_HARM, seconds)),
  ];
}

/** CPU time of one command, in µs: median over the rounds, after one that is not counted. */
function cpuOf(commands: readonly string[], seconds: number): number | undefined {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const start = process.cpuUsage();
    const end = performance.now() + (seconds * 1000) / ROUNDS;
    let passes = 0;
    for (; passes === 0 || performance.now() < end; passes++) for (const command of commands) checkCommand(command);
    const { user, system } = process.cpuUsage(start);
    if (round > 0) times.push((user + system) / passes / commands.length);
  }
  return median(times);
}
