import { readOptions } from '../options.ts';
import { block, hasMatch, hasWord, type Rule, type RuleRows } from './rule-kit.ts';

const FORCED = block('deletes-by-force', 'it removes files without a question');
const WHOLE =
  /^(?:[a-z]:[\\/]?\*?$|[a-z]:[\\/](?:windows|users|program files)|%(?:systemroot|systemdrive|userprofile|windir)%|\$env:|[~\\/]$|\*(?:\.\*)?$|\.\\?\*?$)/i;

const removesItems: Rule = ({ args }) => {
  const recursive = hasMatch(args, /^-r(?:e(?:c(?:u(?:r(?:s(?:e)?)?)?)?)?)?$/i);
  const forced = hasMatch(args, /^-fo(?:r(?:c(?:e)?)?)?$/i);
  return (recursive && (forced || hasMatch(args, WHOLE))) || forced ? FORCED : undefined;
};

/** What does harm on Windows, named in its own or PowerShell's words; the names are lower-case. */
export const WINDOWS_RULES: RuleRows = [
  ['del erase', ({ args }) => (hasMatch(args, /^\/[fsq]$/i) || hasMatch(args, WHOLE) ? FORCED : undefined)],
  ['rd rmdir', ({ args }) => (hasMatch(args, /^\/s$/i) ? FORCED : undefined)],
  ['remove-item ri', removesItems],
  ['format', ({ args }) => (hasMatch(args, /^[a-z]:$/i) ? block('formats-disk', 'it erases a disk') : undefined)],
  ['format-volume clear-disk initialize-disk', () => block('formats-disk', 'it erases a disk')],
  ['stop-computer restart-computer', () => block('stops-system', 'it stops the machine')],
  [
    'reg',
    ({ args }) =>
      hasMatch(args.slice(0, 1), /^(?:delete|add)$/i) ? block('writes-system', 'it changes the registry') : undefined,
  ],
  [
    'bcdedit',
    ({ args }) =>
      readOptions(args).operands.length > 0 ? block('writes-system', 'it changes how the machine starts') : undefined,
  ],
  [
    'diskpart cipher',
    ({ args, name }) =>
      name === 'diskpart' || hasMatch(args, /^\/w/i) ? block('formats-disk', 'it erases disks') : undefined,
  ],
  [
    'vssadmin wbadmin',
    ({ args }) => (hasMatch(args, /^delete$/i) ? block('deletes-system', 'it removes backups') : undefined),
  ],
  [
    'schtasks',
    ({ args }) =>
      hasMatch(args, /^\/(?:create|change)$/i) ? block('runs-later', 'it leaves something that runs later') : undefined,
  ],
  [
    'set-executionpolicy set-mppreference add-mppreference',
    () => block('opens-firewall', 'it takes away what protects the machine'),
  ],
  [
    'netsh',
    ({ args }) =>
      hasMatch(args, /^(?:advfirewall|firewall)$/i) && hasMatch(args, /^(?:off|disable)$/i)
        ? block('opens-firewall', 'it takes away what protects the machine')
        : undefined,
  ],
  [
    'certutil bitsadmin mshta regsvr32 rundll32',
    ({ args }) =>
      hasMatch(args, /https?:|javascript:|-decode|urlcache|transfer/i)
        ? block('remote-script', 'it fetches or hides what is run')
        : undefined,
  ],
  [
    'iex invoke-expression',
    ({ args }) =>
      args.length > 0 ? block('decoded-script', 'it runs a text that is fetched or put together') : undefined,
  ],
  [
    'net',
    ({ args }) =>
      hasWord(args, 'localgroup', 'user') && hasMatch(args, /^\/add$/i)
        ? block('gives-rights', 'it adds a user')
        : undefined,
  ],
];
