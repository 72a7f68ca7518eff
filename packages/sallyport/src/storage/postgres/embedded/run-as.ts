import { execFile } from 'node:child_process';
import { chmod, chown, readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { startError } from './start-problem.ts';

/** How to start the server's programs as an ordinary user, since PostgreSQL refuses to run as root. */
export interface RunAs {
  /** Command that precedes the program. */
  readonly prefix: readonly string[];
  /** User of the process and owner of its files, when it is not this process's user. */
  readonly uid?: number;
  readonly gid?: number;
}

/** One line of the machine's user table. */
interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Users to run as when this process is root, in order of preference. */
const PREFERRED = ['postgres', 'nobody'];

/**
 * Chooses the user that runs the server. An ordinary user runs it as itself. Root, and a user without a name (initdb
 * needs one), runs it in a user namespace, where its files stay its own; where that is not allowed, root runs it as
 * another user, who then owns the cluster.
 * @param clusterFolder may not exist yet; when another user owns it, the server runs as that user
 * @param probe program that must be reachable inside the namespace
 * @throws E3812 no-unprivileged-user
 */
export async function chooseUser(clusterFolder: string, probe: string): Promise<RunAs> {
  const uid = process.getuid?.() ?? 0;
  const users = await knownUsers();
  const isRoot = uid === 0;
  if (!isRoot && (process.platform !== 'linux' || users.some((user) => user.uid === uid))) return { prefix: [] };

  const owner = await stat(clusterFolder).catch(() => undefined);
  if (isRoot && owner !== undefined && owner.uid !== 0) return { prefix: [], uid: owner.uid, gid: owner.gid };
  const other = PREFERRED.map((name) => users.find((user) => user.name === name)).find((user) => user !== undefined);
  if (other === undefined) throw noUser('no user "nobody" exists');

  const prefix = inNamespace(users.find((user) => user.name === 'nobody') ?? other);
  if (await runs([...prefix, probe, '--version'])) return { prefix };
  if (isRoot && owner === undefined) return { prefix: [], uid: other.uid, gid: other.gid };
  throw noUser('user namespaces are not allowed here');
}

/** Makes the server's user the owner of a folder. */
export async function giveTo(runAs: RunAs, folder: string): Promise<void> {
  if (runAs.uid !== undefined) await chown(folder, runAs.uid, runAs.gid ?? -1);
}

/** Lets the server's user traverse a folder without listing it. */
export async function letThrough(runAs: RunAs, folder: string): Promise<void> {
  if (runAs.gid === undefined) return;
  const { mode } = await stat(folder);
  if ((mode & OTHERS_PASS) !== 0) return;
  await chown(folder, -1, runAs.gid);
  await chmod(folder, mode | GROUP_PASSES);
}

const GROUP_PASSES = 0o010;
const OTHERS_PASS = 0o001;

/** `uid` and `gid` as options of child_process. */
export function identity(runAs: RunAs): { readonly uid?: number; readonly gid?: number } {
  return runAs.uid === undefined || runAs.gid === undefined ? {} : { uid: runAs.uid, gid: runAs.gid };
}

const inNamespace = (user: User): string[] => [
  'unshare',
  '--user',
  `--map-user=${user.uid}`,
  `--map-group=${user.gid}`,
  '--',
];

async function runs([program = '', ...args]: readonly string[]): Promise<boolean> {
  return promisify(execFile)(program, args).then(
    () => true,
    () => false,
  );
}

async function knownUsers(): Promise<readonly User[]> {
  const table = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return table.split('\n').flatMap((line) => {
    const [name = '', , uid = '', gid = ''] = line.split(':');
    return uid === '' ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

function noUser(reason: string): Error {
  const message = `PostgreSQL cannot run as this user, and ${reason}. Run the layer as an ordinary user of this machine.`;
  return startError('no-unprivileged-user', message);
}
