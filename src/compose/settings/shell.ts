import type { Setting } from './setting.ts';

/** Which commands of shell tools are refused. */
export const SHELL_SETTINGS = [
  {
    key: 'shell.mode',
    variable: 'SALLYPORT_SHELL_MODE',
    type: 'string',
    oneOf: ['blocklist', 'allowlist'],
    default: 'blocklist',
    sentence:
      'blocklist: a command runs unless a rule of the command screen or shell.blocked blocks it; allowlist: only commands of shell.allowed run, and of them none that is blocked.',
  },
  {
    key: 'shell.blocked',
    variable: 'SALLYPORT_SHELL_BLOCKED',
    type: 'list',
    default: [],
    sentence:
      'Commands that are blocked beside those that the rules block, each by its first words ("git push"; * stands for any characters of a word).',
  },
  {
    key: 'shell.allowed',
    variable: 'SALLYPORT_SHELL_ALLOWED',
    type: 'list',
    default: [],
    sentence: 'Commands that an allowlist lets run, in the same form. It never lifts what is blocked.',
  },
  {
    key: 'shell.asked',
    variable: 'SALLYPORT_SHELL_ASKED',
    type: 'list',
    default: [],
    sentence: 'Rules of the command screen that only ask instead of blocking, for example deletes-by-force.',
  },
] as const satisfies readonly Setting[];
