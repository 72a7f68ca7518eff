/** Facts about a text from its words, as bits: a pattern that needs one of these words is used only when it occurs. */
export const FACT = {
  /** Programs and folders that reach another machine. */
  reaches: 1 << 0,
  /** Programs and names that open this machine. */
  opens: 1 << 1,
  /** Programs that show a file. */
  shows: 1 << 2,
  /** The folder of settings. */
  settings: 1 << 3,
  /** Functions and objects of a browser that attacks typically use. */
  browser: 1 << 4,
  /** Functions that run a program or a text. */
  runs: 1 << 5,
  /** Names by which an expression of a template reaches the program around it. */
  reflects: 1 << 6,
} as const;

/** For a text whose words were not read one by one, or in which other readers may see more words. */
export const ALL_FACTS = -1;

/** In lower case. */
export const FACT_WORDS: readonly (readonly [bit: number, words: string])[] = [
  [FACT.reaches, 'nc ncat sh bash mkfifo dev'],
  [FACT.opens, 'net net1 netsh fdenytsconnections'],
  [FACT.shows, 'cat more less head tail tac nl type cp grep strings'],
  [FACT.settings, 'etc'],
  [FACT.browser, 'alert confirm prompt eval document string top window self this parent'],
  [FACT.runs, 'system exec shell_exec passthru popen proc_open pcntl_exec assert eval phpinfo phpversion getruntime'],
  [FACT.runs, 'call check_call check_output run'],
  [FACT.reflects, '__globals__ __builtins__ __subclasses__ __mro__ __import__ __base__ __bases__ __getattribute__'],
  [FACT.reflects, '__reduce_ex__ subclasses os popen java javax getruntime forname getclass freemarker diagnostics'],
  [FACT.reflects, 'constructor mainmodule child_process registerundefinedfiltercallback _self system exec passthru'],
  [
    FACT.reflects,
    'registerundefinedfunctioncallback shell_exec assert phpinfo jndi lower upper env sys ctx subprocess',
  ],
];
