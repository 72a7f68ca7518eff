import type { Field } from '../field.ts';
import { isSecret, isSocket } from './paths.ts';
import { block, hasMatch, type Invocation, type Rule, type RuleRows } from './rule-kit.ts';

const SHELL = /(?:^|[/\s:,'"])(?:ba|z|da|k|a|c|tc|fi)?sh(?:$|[\s,'"])|cmd\.exe|powershell|\/bin\/(?:busybox|login)/i;
const REVERSE = block('reverse-shell', 'it gives a shell to a connection');
const LEAKS = block('sends-secrets', 'it sends credentials or keys elsewhere');

/** `-e program` and `-c command` of the netcats, alone or in a bundle. */
const listens: Rule = ({ args, input }) => {
  if (input?.fromShell === true) return REVERSE;
  const runs = args.some(
    ({ text }, at) => /^(?:-[a-zA-Z]*[ec]|--(?:exec|sh-exec|lua-exec))$/.test(text) && args[at + 1] !== undefined,
  );
  return runs || hasMatch(args, /^--(?:exec|sh-exec|lua-exec)=|^-[ec]\/bin\//) ? REVERSE : undefined;
};

/** Whether what is sent holds secrets: a file named in the arguments, or the input. */
const sends: Rule = (command) => {
  const { args, input } = command;
  if (input?.secret === true && readsInput(command)) return LEAKS;
  const isSent = COPIES.has(command.name) ? copied(command) : uploaded(command);
  return args.some(({ text, secret }) => secret === true || isSent(text)) ? LEAKS : undefined;
};

/** Programs whose operands are files, here or elsewhere. */
const COPIES: ReadonlySet<string> = new Set(['scp', 'rsync', 'sftp', 'rclone']);

function readsInput({ name, args }: Invocation): boolean {
  if (name === 'curl') return hasMatch(args, /(?:^|=)@-$|^-T-?$|^-$|^@\.?$/);
  if (name === 'wget') return hasMatch(args, /--(?:post|body)-file=-/);
  return true;
}

/** Whether an operand is a secret that is copied to elsewhere. */
function copied({ args, folder }: Invocation): (text: string) => boolean {
  if (!hasMatch(args, /^[^/-][^/]*:/)) return () => false;
  // The key that a connection is opened with is not what is sent.
  const identities = textsAfter(args, /^(?:-i|-F|-o)$/);
  return (text) => !text.startsWith('-') && !text.includes(':') && isSecret(text, folder) && !identities.has(text);
}

/** Whether a word names a file with secrets that is sent. */
function uploaded({ args, folder }: Invocation): (text: string) => boolean {
  const files = textsAfter(args, /^(?:-T|--upload-file)$/);
  return (text) => {
    const found = /(?:^|=|^-[dFT])@([^;,]+)|^--(?:post|body)-file=(.+)|^--upload-file=(.+)/.exec(text);
    const path = found?.[1] ?? found?.[2] ?? found?.[3] ?? (files.has(text) ? text : undefined);
    return path !== undefined && isSecret(path.replace(/^\/\//, '/'), folder);
  };
}

function textsAfter(args: readonly Field[], option: RegExp): ReadonlySet<string> {
  return new Set(args.flatMap(({ text }, at) => (option.test(args[at - 1]?.text ?? '') ? [text] : [])));
}

/** What gives a shell to others, or sends them what is secret. */
export const NETWORK_RULES: RuleRows = [
  ['nc ncat netcat nc.traditional nc.openbsd', listens],
  ['telnet openssl socat curl', ({ input }) => (input?.fromShell === true ? REVERSE : undefined)],
  [
    'nc ncat netcat nc.traditional nc.openbsd curl wget socat telnet openssl scp rsync sftp rclone ftp http https xh mail mailx sendmail mutt nslookup dig host tftp logger',
    sends,
  ],
  [
    'socat',
    ({ args }) => {
      const runs = hasMatch(args, /^(?:EXEC|SYSTEM|SHELL)[:,]/i);
      const connects = hasMatch(args, /^(?:TCP|UDP|SCTP|OPENSSL|SSL|SOCKS|VSOCK|PROXY)/i);
      return runs && (connects || hasMatch(args, SHELL)) ? REVERSE : undefined;
    },
  ],
  [
    'bash sh dash zsh ksh cat exec echo',
    ({ args }) =>
      args.some(({ text }) => isSocket(text))
        ? block('raw-socket', 'it opens a connection as if it were a file')
        : undefined,
  ],
  [
    'telnet openssl nc ncat netcat',
    ({ args }) => (hasMatch(args, /^\|?\/bin\/(?:ba|da|z|k)?sh$/) ? REVERSE : undefined),
  ],
  [
    'xterm',
    ({ args }) =>
      args.some(
        ({ text }, at) =>
          /^-display$/.test(text) &&
          /^[^:].*:\d/.test(args[at + 1]?.text ?? '') &&
          !/^(?:localhost|unix)?:/.test(args[at + 1]?.text ?? ''),
      )
        ? REVERSE
        : undefined,
  ],
  [
    'zmodload',
    ({ args }) => (hasMatch(args, /net\/tcp|net\/socket/) ? block('raw-socket', 'it opens connections') : undefined),
  ],
  [
    'curl wget',
    ({ args }) =>
      hasMatch(
        args,
        /^(?:https?:\/\/)?(?:169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200|\[?fd00:ec2::254\]?)(?:[/:]|$)/i,
      )
        ? block('reads-metadata', "it asks the cloud for the machine's credentials")
        : undefined,
  ],
];
