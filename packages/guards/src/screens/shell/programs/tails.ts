import { RULES } from '../danger/rules.ts';
import type { Field } from '../field.ts';
import { READ_ONLY } from '../read-only/table.ts';
import type { Shell } from '../shell.ts';
import { programName } from './names.ts';
import { SHELLS } from './shells.ts';
import { WRAPPERS } from './wrapper-table.ts';

/** Programs whose arguments are names and texts, so that `rm` among them is no command. */
const TAKES_NAMES = new Set(
  'git hg svn man tldr info apropos whatis whereis apt apt-get aptitude dpkg yum dnf rpm pacman zypper apk brew port snap flatpak npm yarn pnpm pip pip3 cargo gem go help type which command hash logger notify-send gh glab jq awk sed cowsay say espeak figlet systemctl journalctl alias docker-compose helm terraform aws gcloud az touch mkdir cp mv ln rm chmod chown ls cat grep make cmake ssh-keygen codex claude gemini llm ollama mkfs basename dirname'.split(
    ' ',
  ),
);
/** Programs whose names are words of other programs' own: `x shutdown` says nothing of the machine. */
const WORDS = new Set(
  'shutdown reboot halt poweroff init service kill format reg net rd erase install mail host touch patch del ri sort curl git docker passwd reset mount parallel watch script time command exec link unlink'.split(
    ' ',
  ),
);

/** Arguments that are looked at, and characters of one. */
const LOOKED_AT = 64;
const SCRIPT_MAX = 4096;
const SUSPICIOUS =
  /\b(?:rm|dd|mkfs|shutdown|reboot|chmod|chown|curl|wget|nc|bash|sh|sudo|eval|base64)\b|\/dev\/(?:tcp|sd|nvme)|:\(\)/;
const FIRST_WORD = /^\s*([\w./-]+)/;

/**
 * Looks for harm in what an unknown program may run: a command at the end of its arguments, or a script in one of them.
 * A text that does not begin with a program is prose.
 */
export function noteTails(shell: Shell, name: string, args: readonly Field[]): void {
  if (TAKES_NAMES.has(name) || shell.report.isSuspecting) return;
  shell.conditional += 1;
  shell.report.suspect(() => {
    for (const [index, field] of args.slice(0, LOOKED_AT).entries()) {
      const inner = programName(field.text);
      if (WORDS.has(inner)) continue;
      if (runsOthers(inner)) shell.run.command(shell, args.slice(index), SUSPECTED);
      else if (isScript(field.text)) shell.run.text(shell, field.text);
    }
  });
  shell.conditional -= 1;
}

const SUSPECTED = { input: undefined, assigned: [], redirects: [], piped: false, viaProgram: true } as const;

function runsOthers(name: string): boolean {
  return RULES.has(name) || SHELLS.has(name) || (WRAPPERS.has(name) && name !== '-');
}

function isScript(text: string): boolean {
  if (text.length < 5 || text.length > SCRIPT_MAX || !/[\s;|&]/.test(text) || !SUSPICIOUS.test(text)) return false;
  const first = programName(FIRST_WORD.exec(text)?.[1] ?? '');
  return runsOthers(first) || READ_ONLY.has(first) || /^:\(\)/.test(text);
}
