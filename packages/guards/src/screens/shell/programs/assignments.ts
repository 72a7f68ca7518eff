import { type Field, lineOf } from '../field.ts';
import { changesPrograms } from '../program-variables.ts';
import type { Judgement } from '../report.ts';
import type { Shell } from '../shell.ts';

const HARMLESS =
  /^(?:[a-z_][a-z0-9_]*|LC_[A-Z]+|LANG(?:UAGE)?|TZ|COLUMNS|LINES|IFS|NO_COLOR|CI|TERM|FORCE_COLOR|REPLY|DEBUG)$/;
const HISTORY = /^(?:HISTFILE|HISTSIZE|HISTFILESIZE|HISTCONTROL|HISTIGNORE|SAVEHIST|fish_history)$/;

/** Variables whose value a shell runs. */
const CODE = new Set([
  'PROMPT_COMMAND',
  'PS0',
  'PS1',
  'PS4',
  'GIT_SSH_COMMAND',
  'GIT_EXTERNAL_DIFF',
  'GIT_PAGER',
  'PAGER',
  'EDITOR',
]);

/** Reports an assignment that does more than hold a text, and follows what will be run of it. */
export function noteAssignment(name: string, values: readonly Field[], shell: Shell, temporary = false): void {
  const command = `${name}=${lineOf(values)}`;
  const judgement = judgementOf(name, values[0]?.text ?? '', temporary);
  if (judgement !== undefined) shell.report.add(judgement, command);
  const code = values[0]?.text ?? '';
  if (!CODE.has(name) || code === '') return;
  shell.conditional += 1;
  shell.run.text(shell, code);
  shell.conditional -= 1;
}

function judgementOf(name: string, value: string, temporary: boolean): Judgement | undefined {
  if (HISTORY.test(name)) {
    const hides = name === 'HISTFILE' ? value === '' || value === '/dev/null' : value === '0';
    const why = 'it keeps commands out of the history';
    return { rule: 'erases-traces', why, verdict: hides ? 'blocked' : 'ask' };
  }
  if (!changesPrograms(name) && (!temporary || HARMLESS.test(name))) return undefined;
  const why = changesPrograms(name) ? `${name} changes what programs run` : `${name} may change what the program does`;
  return { rule: 'sets-variable', why, verdict: 'ask' };
}
