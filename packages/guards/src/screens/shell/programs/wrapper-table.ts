/** A program that runs the command in its arguments. */
export interface Wrapper {
  /** Letters of its options that take a value. */
  readonly valued?: string;
  /** Its long options that take the next word as value. */
  readonly longValued?: readonly string[];
  /** Operands before the command: a duration, a host, a folder. */
  readonly operands?: number;
  /** `NAME=value` before the command. */
  readonly assigns?: true;
  /** Its operands are joined and read by a shell. */
  readonly joins?: true;
  /** Why it needs a question of its own; absent for those that change nothing of what the command does. */
  readonly asks?: string;
  /** Options that hold a command for a shell. */
  readonly code?: readonly string[];
  /** Subcommands after which it runs a command; any other use is not that of a wrapper. */
  readonly after?: readonly string[];
}

const RIGHTS = 'it runs with the rights of another user';
const ELSEWHERE = 'it runs on another machine';
const BOX = 'it runs in another system or container';
const TRACED = 'it looks into another program';
const REPEATS = 'it runs a command again and again';
const KEEPS = 'it leaves a program running or a file behind';

const WITH_ENVIRONMENT: Wrapper = { asks: 'it chooses which program runs', after: ['run', 'exec', 'x', '-c'] };

/** Wrappers by name. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    env: { valued: 'uCP', longValued: ['--unset', '--chdir'], assigns: true, code: ['-S', '--split-string'] },
    command: {},
    builtin: {},
    exec: { valued: 'a' },
    nocorrect: {},
    noglob: {},
    '-': {},
    coproc: {},
    time: { valued: 'fo', asks: 'it may write a file' },
    nice: { valued: 'n', longValued: ['--adjustment'] },
    ionice: { valued: 'cnpPu', longValued: ['--class', '--classdata'] },
    timeout: { valued: 'ks', longValued: ['--kill-after', '--signal'], operands: 1 },
    gtimeout: { valued: 'ks', longValued: ['--kill-after', '--signal'], operands: 1 },
    stdbuf: { valued: 'ioe', longValued: ['--input', '--output', '--error'] },
    chrt: { valued: 'TPD', operands: 1 },
    taskset: { operands: 1 },
    numactl: { valued: 'CNmilp' },
    setarch: { operands: 1 },
    linux32: {},
    linux64: {},
    nohup: { asks: KEEPS },
    setsid: { asks: KEEPS },
    disown: { asks: KEEPS },
    daemonize: { valued: 'acepoluE', asks: KEEPS },
    'start-stop-daemon': {
      valued: 'pxnucdgkRaN',
      longValued: ['--exec', '--startas', '--pidfile'],
      asks: KEEPS,
      code: ['-x', '--exec', '-a', '--startas'],
    },
    sudo: {
      valued: 'CDghpRrTtUu',
      longValued: ['--user', '--group', '--host', '--prompt', '--chdir'],
      assigns: true,
      asks: RIGHTS,
    },
    doas: { valued: 'Cu', assigns: true, asks: RIGHTS },
    pkexec: { longValued: ['--user'], asks: RIGHTS },
    gosu: { operands: 1, asks: RIGHTS },
    'su-exec': { operands: 1, asks: RIGHTS },
    setpriv: { asks: RIGHTS },
    capsh: { asks: RIGHTS },
    su: { valued: 'gGsw', operands: 1, asks: RIGHTS, code: ['-c', '--command'] },
    runuser: { valued: 'ugGsw', asks: RIGHTS, code: ['-c', '--command'] },
    sg: { operands: 1, asks: RIGHTS, code: ['-c'], joins: true },
    chroot: { longValued: ['--userspec', '--groups'], operands: 1, asks: BOX },
    nsenter: { valued: 'tSGW', longValued: ['--target', '--setuid', '--setgid', '--wd'], asks: BOX },
    unshare: { valued: 'SGRw', asks: BOX },
    'systemd-nspawn': { valued: 'DMibu', asks: BOX },
    'systemd-run': {
      valued: 'pHMuEt',
      longValued: ['--unit', '--property', '--setenv', '--on-calendar', '--on-active'],
      asks: KEEPS,
    },
    firejail: { asks: BOX },
    proot: { valued: 'rbw', asks: BOX },
    fakeroot: { asks: BOX },
    'flatpak-spawn': { asks: BOX },
    toolbox: { asks: BOX, after: ['run', 'enter'] },
    distrobox: { asks: BOX, after: ['enter'] },
    strace: { valued: 'aebEIoOpPsSuX', asks: TRACED },
    ltrace: { valued: 'aeAlnopsuxDF', asks: TRACED },
    gdb: { asks: TRACED, code: ['-ex', '--eval-command'] },
    valgrind: { asks: TRACED },
    perf: { asks: TRACED, after: ['stat', 'record', 'trace'] },
    rlwrap: { asks: TRACED },
    unbuffer: { asks: TRACED },
    script: { valued: 'oEIOBTm', asks: KEEPS, code: ['-c', '--command'] },
    watch: { valued: 'nq', longValued: ['--interval'], joins: true, asks: REPEATS },
    hyperfine: {
      valued: 'wrmMpcSnLPDsuNi',
      joins: true,
      asks: REPEATS,
      code: ['-p', '--prepare', '-c', '--cleanup', '-s', '--setup'],
    },
    entr: { asks: REPEATS, code: ['-s'] },
    watchexec: { valued: 'wefiso', asks: REPEATS },
    nodemon: { asks: REPEATS, code: ['-x', '--exec'] },
    flock: { valued: 'wE', operands: 1, asks: KEEPS, code: ['-c', '--command'] },
    ssh: { valued: 'BbcDEeFIiJLlmOoPpQRSWw', operands: 1, joins: true, asks: ELSEWHERE },
    sshpass: { valued: 'pfdP', asks: ELSEWHERE },
    rsh: { valued: 'l', operands: 1, joins: true, asks: ELSEWHERE },
    mosh: { operands: 1, asks: ELSEWHERE },
    torsocks: { asks: ELSEWHERE },
    torify: { asks: ELSEWHERE },
    proxychains: { valued: 'f', asks: ELSEWHERE },
    proxychains4: { valued: 'f', asks: ELSEWHERE },
    'dbus-run-session': { asks: BOX },
    'xvfb-run': { valued: 'enpsfw', asks: BOX },
    'systemd-inhibit': { asks: KEEPS },
    caffeinate: { valued: 'tw' },
    chronic: { asks: KEEPS },
    ts: { asks: KEEPS },
    busybox: { asks: 'it is many programs in one' },
    toybox: { asks: 'it is many programs in one' },
    wsl: { valued: 'du', asks: BOX },
    winpty: { asks: BOX },
    parallel: {
      valued: 'jINLnsaEPSCRw',
      longValued: ['--jobs', '--colsep', '--results', '--joblog', '--sshlogin'],
      joins: true,
      asks: REPEATS,
    },
    uv: WITH_ENVIRONMENT,
    poetry: WITH_ENVIRONMENT,
    pipenv: WITH_ENVIRONMENT,
    bundle: WITH_ENVIRONMENT,
    conda: { ...WITH_ENVIRONMENT, valued: 'np' },
    direnv: { ...WITH_ENVIRONMENT, operands: 1 },
    'aws-vault': { ...WITH_ENVIRONMENT, operands: 1 },
    op: WITH_ENVIRONMENT,
    doppler: WITH_ENVIRONMENT,
    mise: WITH_ENVIRONMENT,
    dotenv: { valued: 'fe', asks: 'it chooses which program runs' },
    'with-contenv': { asks: BOX },
  }),
);
