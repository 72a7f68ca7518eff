import { readFile } from 'node:fs/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { parse } from 'smol-toml';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { CREDENTIAL_TYPES, type Credential, ROTATION_SCHEDULES } from './credential.ts';

/** Characters of a file. */
const TEXT_MAX = 256 * KiB;
/** Faults that are reported of one file. */
const FAULTS_MAX = 5;

/** A date-time of TOML, as a text with a zone. */
const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T.*(?:Z|[+-]\\d{2}:\\d{2})$' });

/** A table of the file, in the words of 000 §5.1.6. */
const CredentialTable = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    tenant: Type.Optional(Type.String({ minLength: 1 })),
    credential_type: Type.Enum([...CREDENTIAL_TYPES]),
    expires_at: Type.Optional(Time),
    rotation_schedule: Type.Optional(Type.Enum([...ROTATION_SCHEDULES])),
    rotated_at: Type.Optional(Time),
    metadata: Type.Optional(
      Type.Object(
        { service_name: Type.Optional(Type.String()), scopes: Type.Optional(Type.Array(Type.String())) },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
type CredentialTable = Static<typeof CredentialTable>;

const schema = Compile(
  Type.Object({ credential: Type.Optional(Type.Array(CredentialTable)) }, { additionalProperties: false }),
);

/**
 * Reads what an operator says of credentials; a file that is not there says nothing.
 * @param defaultTenant tenant of credentials that name none
 * @throws ToolLayerError E3801 naming the file and every fault in it, without values
 */
export async function readCredentials(path: string, defaultTenant: string): Promise<readonly Credential[]> {
  const values = await valuesIn(path);
  const faults = schema.Errors(values).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  if (faults.length > 0) throw faulty(path, `has faults: ${faults.slice(0, FAULTS_MAX).join('; ')}`);
  const { credential: tables = [] } = values as { credential?: readonly CredentialTable[] };
  const credentials = tables.map((table, at) => credentialOf(table, at, path, defaultTenant));
  const keys = credentials.map(({ tenantId, name }) => `${tenantId}\0${name}`);
  const twice = keys.findIndex((key, at) => keys.indexOf(key) !== at);
  if (twice >= 0) throw faulty(path, `has faults: /credential/${twice} has the name and tenant of an earlier one`);
  return credentials;
}

async function valuesIn(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw faulty(path, 'cannot be read', cause);
  }
  if (text.length > TEXT_MAX) throw faulty(path, `has more than ${TEXT_MAX} characters`);
  try {
    // Dates become texts, which the schema knows.
    return JSON.parse(JSON.stringify(parse(text)));
  } catch (cause) {
    throw faulty(path, 'is not valid TOML', cause);
  }
}

function credentialOf(table: CredentialTable, at: number, path: string, defaultTenant: string): Credential {
  const { name, tenant = defaultTenant, credential_type: type, metadata = {} } = table;
  const { rotation_schedule: rotationSchedule = 'on_demand', expires_at, rotated_at } = table;
  if (rotationSchedule !== 'on_demand' && rotated_at === undefined)
    throw faulty(path, `has faults: /credential/${at} needs rotated_at, from which its next rotation is counted`);
  const [expiresAt, rotatedAt] = [expires_at, rotated_at].map((time) =>
    time === undefined ? undefined : Date.parse(time),
  );
  if (Number.isNaN(expiresAt) || Number.isNaN(rotatedAt))
    throw faulty(path, `has faults: /credential/${at} names a time that does not exist`);
  return {
    ...{ name, tenantId: tenant, type, rotationSchedule },
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(rotatedAt === undefined ? {} : { rotatedAt }),
    ...(metadata.service_name === undefined ? {} : { serviceName: metadata.service_name }),
    ...(metadata.scopes === undefined ? {} : { scopes: metadata.scopes }),
  };
}

const faulty = (path: string, what: string, cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3801', `The file of credentials ${path} ${what}.`, { cause });
