/** Variables that change what programs do when they start, by running code or by being found elsewhere. */
const CHANGING_PROGRAMS =
  /^(?:LD_(?:PRELOAD|LIBRARY_PATH|AUDIT)|DYLD_\w+|PATH|ENV|BASH_ENV|BASH_FUNC_\w+|SHELLOPTS|BASHOPTS|PS[0-4]|CDPATH|GLOBIGNORE|PROMPT_COMMAND|\w*PAGER|\w*EDITOR|VISUAL|BROWSER|SHELL|HOME|LESS(?:OPEN|CLOSE)|GIT_\w+|\w+_ASKPASS|PYTHON\w+|NODE_\w+|PERL\w+|RUBY\w+|_?JAVA_\w+|JDK_\w+|GEM_\w+|NPM_\w+|npm_\w+|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|MAKEFLAGS|GREP_OPTIONS|RIPGREP_CONFIG_PATH|FZF_\w+|TERMINFO\w*|MANOPT|GCONV_PATH|LOCPATH|TMPDIR|XDG_\w+)$/;

/** Whether programs look at a variable to find out what to run. */
export function changesPrograms(name: string): boolean {
  return /^[A-Zn_]/.test(name) && CHANGING_PROGRAMS.test(name);
}
