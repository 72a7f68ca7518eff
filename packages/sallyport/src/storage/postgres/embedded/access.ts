import { randomBytes } from 'node:crypto';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@sallyport/std/sha256';
import { giveTo } from './run-as.ts';
import { DATABASE, runSingleUser, type ServerCommand } from './server-process.ts';
import { folderError } from './start-problem.ts';

/** The role that the layer works as: it owns the schemas that it makes, and nothing else. */
export const LAYER_ROLE = 'sallyport_layer';

/** A password as `passwordOf` makes it; anything else is a file that somebody else wrote. */
const PASSWORD = /^[\w-]{43}$/;
const PASSWORD_BYTES = 32;

/**
 * The password of the layer's role, in a file that the layer's user alone may read. It is made at first, and anew when it
 * is lost or when others could have read it.
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

/** Empty for a file that is not there or was open to others. */
async function privateText(file: string): Promise<string> {
  try {
    const { mode } = await lstat(file);
    return (mode & OTHERS) === 0 ? await readFile(file, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Rights of the file's group and of everybody; a link has them all. */
const OTHERS = 0o077;

/**
 * Makes sure that the cluster is open to the layer's role alone, and only with this password. The file of access rules
 * names the password's hash and is written last, so that what was cut off, and a cluster of an older version, where
 * whoever reached the socket was superuser, is done again at the next start.
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

/** Schemas that are not PostgreSQL's own: those of the layer and of its queue. */
const OWN_SCHEMAS = `select oid from pg_namespace where nspname !~ '^pg_' and nspname not in ('information_schema', 'public')`;

/** Makes the role, and gives it what an older version of the layer made as the superuser. */
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

/** Writes a file whole or not at all, for its owner alone. */
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
