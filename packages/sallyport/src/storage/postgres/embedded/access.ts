import { randomBytes } from 'node:crypto';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@sallyport/std/sha256';
import { giveTo } from './run-as.ts';
import { DATABASE, runSingleUser, type ServerCommand } from './server-process.ts';
import { folderError } from './start-problem.ts';

/** The layer's role: it owns only the schemas that it creates. */
export const LAYER_ROLE = 'sallyport_layer';

/** A password as `passwordOf` makes it; any other text was written by somebody else. */
const PASSWORD = /^[\w-]{43}$/;
const PASSWORD_BYTES = 32;

/**
 * The password of the layer's role, from a file that only the layer's user can read. It is created on first use, and
 * again when it is lost or others could have read it.
 * @throws E3812 folder-unusable, disk-full
 */
export async function passwordOf(dataFolder: string): Promise<string> {
  const file = join(dataFolder, 'postgres.password');
  const found = await privateText(file);
  if (PASSWORD.test(found)) return found;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await replace(file, password).catch((cause) => {
    throw folderError(dataFolder, cause);
  });
  return password;
}

/** Empty for a missing file and for one that others could read. */
async function privateText(file: string): Promise<string> {
  try {
    const { mode } = await lstat(file);
    return (mode & OTHERS) === 0 ? await readFile(file, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Permissions of the file's group and of everybody; a symbolic link has them all. */
const OTHERS = 0o077;

/**
 * Restricts the cluster to the layer's role with this password. The file of access rules names the password's hash and
 * is written last, so that an interrupted change is repeated at the next start; so is a cluster of an older version, in
 * which everybody who reached the socket was superuser.
 * @throws ServerStillEnding; E3812 server-failed, disk-full, folder-unusable
 */
export async function restrictAccess(command: ServerCommand, password: string): Promise<void> {
  const { clusterFolder, runAs } = command;
  const file = join(clusterFolder, 'pg_hba.conf');
  const rules = accessRules(password);
  if ((await readFile(file, 'utf8').catch(() => '')) === rules) return;
  await runSingleUser(command, [...ROLE, passwordStatement(password)]);
  try {
    await replace(file, rules, (draft) => giveTo(runAs, draft));
  } catch (cause) {
    throw folderError(clusterFolder, cause);
  }
}

/** The superuser has no password, and so cannot connect. */
const accessRules = (password: string): string => `# The layer writes this file. Password: sha256 ${sha256(password)}
local ${DATABASE} ${LAYER_ROLE} scram-sha-256
`;

const passwordStatement = (password: string): string => `alter role ${LAYER_ROLE} password '${password}'`;

/** Schemas besides PostgreSQL's own: those of the layer and of its queue. */
const OWN_SCHEMAS = `select oid from pg_namespace where nspname !~ '^pg_' and nspname not in ('information_schema', 'public')`;

/** Creates the role, and makes it the owner of what an older version of the layer created as the superuser. */
const ROLE: readonly string[] = [
  `do $$ begin if to_regrole('${LAYER_ROLE}') is null then create role ${LAYER_ROLE}; end if; end $$`,
  `alter role ${LAYER_ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls`,
  `grant create on database ${DATABASE} to ${LAYER_ROLE}`,
  `do $$
declare one record;
begin
  for one in
    select format('alter schema %s owner to ${LAYER_ROLE}', oid::regnamespace) as change from pg_namespace
    where oid in (${OWN_SCHEMAS})
    union all
    select format('alter table %s owner to ${LAYER_ROLE}', oid::regclass) from pg_class
    where relnamespace in (${OWN_SCHEMAS}) and relkind in ('r', 'p', 'v', 'm', 'f')
    union all
    select format('alter sequence %s owner to ${LAYER_ROLE}', oid::regclass) from pg_class
    where relnamespace in (${OWN_SCHEMAS}) and relkind = 'S'
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype in ('a', 'i'))
    union all
    select format('alter routine %s owner to ${LAYER_ROLE}', oid::regprocedure) from pg_proc
    where pronamespace in (${OWN_SCHEMAS})
    union all
    select format('alter type %s owner to ${LAYER_ROLE}', oid::regtype) from pg_type
    where typnamespace in (${OWN_SCHEMAS}) and typtype in ('d', 'e')
  loop execute one.change; end loop;
end $$`.replaceAll('\n', ' '),
];

/** Writes a file atomically, readable only by its owner. */
async function replace(file: string, text: string, prepare?: (draft: string) => Promise<void>): Promise<void> {
  const draft = `${file}.new`;
  try {
    await rm(draft, { force: true });
    await writeFile(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    await prepare?.(draft);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
