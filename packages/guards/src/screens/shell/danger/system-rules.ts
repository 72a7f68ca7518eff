import { readOptions } from '../options.ts';
import { touchesWhole } from './delete-rules.ts';
import { ask, block, blockHere, hasMatch, hasWord, type Rule, type RuleRows } from './rule-kit.ts';

const STOPS = block('stops-system', 'it stops or restarts the machine, or all programs');
const KERNEL = blockHere('changes-kernel', 'it changes the running kernel');
const FIREWALL = block('opens-firewall', 'it takes away what protects the machine');
const PERSISTS = blockHere('runs-later', 'it leaves something that runs later');
const ESCAPES = block('leaves-container', 'it reaches the machine that the container runs on');
const RIGHTS = block('gives-rights', 'it gives rights to everyone, or of the owner to everyone who runs a file');
const TRACES = blockHere('erases-traces', 'it removes logs or the history of commands');

const GUARDS =
  /^(?:firewalld|ufw|apparmor|auditd|iptables|nftables|fail2ban|rsyslog|syslog|crowdstrike|falcon-sensor|clamav\S*|wazuh\S*|osqueryd?|selinux)(?:\.service)?$/;

const changesMode: Rule = ({ args, folder, writes }) => {
  const options = readOptions(
    args.filter(({ text }) => !/^-[rwxXst,ugoa+=-]*[rwxXst]$/.test(text) || text === '-R' || text === '-r'),
  );
  for (const { text } of options.operands.slice(1)) writes(text);
  const recursive = options.has('-R', '--recursive');
  const [mode] = options.operands;
  if (recursive && touchesWhole({ args: options.operands.slice(1), folder }) && !isHere(options.operands.slice(1))) {
    return block('changes-system-rights', 'it changes the rights of what belongs to the system');
  }
  if (mode === undefined) return undefined;
  if (/^(?:[ugoa]*[+=][rwxX]*s|[2467][0-7]{3}$|0[2467][0-7]{3}$)/.test(mode.text) && mode.text !== 'g+s') return RIGHTS;
  const system = options.operands
    .slice(1)
    .filter(({ text }) => /^\/(?:etc|usr|s?bin|lib\w*|boot|dev|var|root)(?:\/|$)/.test(text));
  return system.length > 0 && /^(?:0?777|a\+\w*w|o\+\w*w|\+w|0?666)/.test(mode.text) ? RIGHTS : undefined;
};

const isHere = (operands: readonly { readonly text: string }[]): boolean =>
  operands.every(({ text }) => /^\.?\/?\*?$/.test(text) && text !== '/' && text !== '/*');

const changesOwner: Rule = ({ args, folder }) => {
  const options = readOptions(args);
  const places = options.operands.slice(1);
  if (!options.has('-R', '--recursive') || isHere(places)) return undefined;
  return touchesWhole({ args: places, folder })
    ? block('changes-system-rights', 'it changes the owner of what belongs to the system')
    : undefined;
};

/** What stops a machine, or changes how it is run and guarded. */
export const SYSTEM_RULES: RuleRows = [
  ['shutdown', ({ args }) => (hasWord(args, '-c') || hasMatch(args, /^--(?:help|version|show)$/) ? undefined : STOPS)],
  [
    'reboot halt poweroff',
    ({ args }) => (hasMatch(args, /^--(?:help|version)$|^-w$|^--wtmp-only$/) ? undefined : STOPS),
  ],
  ['init telinit', ({ args }) => (/^[016sS]$/.test(args[0]?.text ?? '') ? STOPS : undefined)],
  [
    'systemctl',
    ({ args }) => {
      if (hasWord(args, 'poweroff', 'reboot', 'halt', 'kexec', 'rescue', 'emergency', 'exit', 'soft-reboot'))
        return STOPS;
      if (hasWord(args, 'stop', 'disable', 'mask', 'kill') && hasMatch(args, GUARDS)) return FIREWALL;
      return undefined;
    },
  ],
  ['service rc-service', ({ args }) => (hasWord(args, 'stop') && hasMatch(args, GUARDS) ? FIREWALL : undefined)],
  [
    'kill',
    ({ args }) =>
      hasWord(args.slice(1), '-1') ||
      (hasWord(args, '1') && args.at(-1)?.text === '1' && args.length > 1 && !hasWord(args, '-l'))
        ? STOPS
        : undefined,
  ],
  ['killall5', () => STOPS],
  [
    'killall pkill',
    ({ args }) =>
      hasMatch(args, /^(?:\.\*?|\.\+|-1|init|systemd|sshd|\.\*\.\*)$/) ||
      (hasMatch(args, /^-u/) && hasWord(args, 'root'))
        ? STOPS
        : undefined,
  ],
  [
    'insmod rmmod kexec depmod',
    ({ args }) => (args.length > 0 && !hasMatch(args, /^--(?:help|version)$/) ? KERNEL : undefined),
  ],
  [
    'modprobe',
    ({ args }) =>
      args.length > 0 && !hasMatch(args, /^(?:-n|--dry-run|--show\S*|-D|--help|-V|--version|-c|--showconfig)$/)
        ? KERNEL
        : undefined,
  ],
  ['sysctl', ({ args }) => (hasMatch(args, /^kernel\.\S+=|^vm\.\S*=|^fs\.\S+=/) ? KERNEL : undefined)],
  [
    'iptables ip6tables ebtables iptables-legacy iptables-nft',
    ({ args }) =>
      hasMatch(args, /^(?:-[FX]|--flush|--delete-chain)$/) ||
      (hasMatch(args, /^(?:-P|--policy)$/) && hasWord(args, 'ACCEPT'))
        ? FIREWALL
        : undefined,
  ],
  ['nft', ({ args }) => (hasWord(args, 'flush') && hasWord(args, 'ruleset') ? FIREWALL : undefined)],
  ['ufw', ({ args }) => (hasWord(args, 'disable', 'reset') ? FIREWALL : undefined)],
  ['setenforce', ({ args }) => (hasMatch(args, /^(?:0|permissive)$/i) ? FIREWALL : undefined)],
  ['auditctl', ({ args }) => (hasWord(args, '-D') || hasWord(args, '-e0') ? FIREWALL : undefined)],
  ['aa-teardown aa-disable', () => FIREWALL],
  ['spctl csrutil', ({ args }) => (hasMatch(args, /disable/) ? FIREWALL : undefined)],
  ['crontab', ({ args }) => (hasWord(args, '-l', '-V') && !hasWord(args, '-r') ? undefined : PERSISTS)],
  [
    'visudo',
    ({ args }) => (hasMatch(args, /^-c|^--check/) ? undefined : block('gives-rights', 'it changes who may do what')),
  ],
  [
    'usermod useradd gpasswd adduser',
    ({ args }) =>
      hasMatch(args, /(?:^|,)(?:sudo|wheel|root|admin|docker|adm|shadow|disk)(?:,|$)/) ||
      (hasWord(args, '-o') && hasWord(args, '0'))
        ? block('gives-rights', 'it makes someone an administrator')
        : undefined,
  ],
  [
    'passwd',
    ({ args }) =>
      hasMatch(args, /^-[du]|^--delete/) && hasWord(args, 'root')
        ? block('gives-rights', 'it opens the account of the administrator')
        : undefined,
  ],
  [
    'setcap',
    ({ args }) =>
      hasMatch(args, /cap_(?:setuid|sys_admin|dac_override|sys_ptrace|sys_module|setgid|chown|fowner|all)|^all=/i)
        ? RIGHTS
        : undefined,
  ],
  ['chmod gchmod', changesMode],
  [
    'install mkdir',
    ({ args }) =>
      /^[2467][0-7]{3}$/.test(
        readOptions(args, { valued: 'm', longValued: ['--mode'] }).value('-m', '--mode')?.text ?? '',
      )
        ? RIGHTS
        : undefined,
  ],
  ['chown chgrp gchown', changesOwner],
  [
    'chattr',
    ({ args, folder }) =>
      hasMatch(args, /^[-+=]\w*i/) && touchesWhole({ args: args.slice(1), folder })
        ? block('changes-system-rights', 'it changes what protects the system')
        : undefined,
  ],
  ['journalctl', ({ args }) => (hasMatch(args, /^--vacuum-(?:time|size|files)=[01](?:\D|$)/) ? TRACES : undefined)],
  ['auditpol wevtutil', ({ args }) => (hasMatch(args, /^(?:cl|clear-log|\/clear)$/) ? TRACES : undefined)],
  [
    'docker podman nerdctl',
    ({ args }) => {
      if (!hasWord(args, 'run', 'create', 'exec')) return undefined;
      const bind =
        /^(?:-v|--volume=|--mount=)?(?:type=bind,)?(?:src=|source=)?\/(?:etc|root|boot|var\/run\/docker\.sock|proc|sys|dev)?\/?[:,]/;
      if (hasMatch(args, bind)) return ESCAPES;
      if (hasMatch(args, /^--privileged(?:=true)?$/) || hasMatch(args, /^--(?:pid|net|network|ipc|uts|userns)=host$/))
        return ask('leaves-container', 'the container may reach the machine');
      return undefined;
    },
  ],
  [
    'nsenter',
    ({ args }) =>
      hasMatch(args, /^(?:-t1|--target=1)$/) ||
      args.some(({ text }, at) => /^(?:-t|--target)$/.test(text) && args[at + 1]?.text === '1')
        ? ESCAPES
        : undefined,
  ],
  [
    'xmrig minerd cpuminer cgminer bfgminer ethminer xmr-stak t-rex nbminer',
    () => block('mines', 'it mines a currency'),
  ],
  [
    'vssadmin',
    ({ args }) => (hasWord(args, 'delete', 'Delete') ? block('deletes-system', 'it removes backups') : undefined),
  ],
];
