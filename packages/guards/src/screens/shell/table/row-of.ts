import { programName } from '../programs/names.ts';
import { WRAPPERS, type Wrapper } from '../programs/wrapper-table.ts';
import { GIT_ROW } from './git-row.ts';
import { LANGUAGE_ROWS } from './language-rows.ts';
import { type ProgramRow, unversioned } from './program-row.ts';
import { PROGRAM_ROWS } from './program-rows.ts';

/** What wrappers have beside what the table of wrappers says of them. */
const OF_WRAPPERS: Readonly<Record<string, ProgramRow>> = {
  env: { flags: 'iv0 --ignore-environment --null --debug' },
  timeout: { flags: 'v --foreground --preserve-status --verbose' },
  time: { asks: 'o --output', flags: 'pvaq' },
  nice: { flags: '0123456789' },
  stdbuf: {},
  sudo: { asks: 'CDhRrTt', flags: 'nEHSbkKvlAi --non-interactive --preserve-env --login' },
  strace: { commands: 'o', asks: 'E', flags: 'fFcCqrtTvxyzk' },
  ltrace: { asks: 'oFxl', flags: 'fcCiLrStTbhV' },
  flock: { flags: 'snxueoF --nonblock --nb --exclusive --shared --no-fork' },
  watch: { flags: 'dtbecgpx --color --differences --exec --no-title' },
  setsid: { flags: 'cfw --wait --fork --ctty' },
  xargs: {
    takes: 'aEeIiLlnPsd --replace --max-args --max-procs --delimiter --arg-file --max-lines --max-chars',
    flags: '0rtpxo --null --no-run-if-empty --verbose --exit',
    operands: ['program'],
  },
  parallel: { asks: 'S --sshlogin --results --joblog', flags: 'kqtX0 --keep-order --bar --dry-run --line-buffer' },
};

const ROWS: ReadonlyMap<string, ProgramRow> = new Map(
  [
    ...[...WRAPPERS].map(([name, wrapper]): [string, ProgramRow] => [name, rowOfWrapper(wrapper)]),
    ...Object.entries(OF_WRAPPERS),
    ...Object.entries(LANGUAGE_ROWS),
    ...Object.entries(PROGRAM_ROWS),
    ['git', GIT_ROW] as [string, ProgramRow],
  ].reduce((rows, [name, row]) => rows.set(name, both(rows.get(name) ?? {}, row)), new Map<string, ProgramRow>()),
);

/** What is known of the program of that name, wherever it lies; undefined for one that runs nothing, or of which nothing is known. */
export function rowOf(text: string): ProgramRow | undefined {
  const name = programName(text);
  return ROWS.get(name) ?? ROWS.get(unversioned(name));
}

/** A row with what another says beside it. */
export function both(first: ProgramRow, second: ProgramRow): ProgramRow {
  const merged: Record<string, unknown> = { ...first, ...second };
  for (const list of ['commands', 'code', 'asks', 'gives', 'ends', 'takes', 'flags', 'exec', 'keys'] as const) {
    const words = [first[list], second[list]].filter((each) => each !== undefined);
    if (words.length > 0) merged[list] = words.join(' ');
  }
  return merged;
}

function rowOfWrapper({
  valued = '',
  longValued = [],
  operands = 0,
  assigns,
  joins,
  code = [],
  after,
}: Wrapper): ProgramRow {
  const row: ProgramRow = {
    commands: code.join(' '),
    takes: [valued, ...longValued].join(' ').trim(),
    operands: [...Array<'plain'>(operands).fill('plain'), joins === true ? 'text' : 'program'],
    ...(assigns === true ? { assigns } : {}),
  };
  if (after === undefined) return row;
  return {
    ...row,
    subcommands: {
      ...Object.fromEntries(after.map((word) => [word, { operands: row.operands ?? [] }])),
      '*': { operands: ['open'] },
    },
  };
}
