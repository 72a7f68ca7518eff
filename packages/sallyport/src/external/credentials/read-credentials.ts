import { readSmallText } from '@sallyport/std/files/read-small-text';
import { type Static, Type } from 'typebox';
import { type FileFault, fileFault, parseTomlAs } from '../../domain/settings/toml-file.ts';
import { CREDENTIAL_TYPES, type Credential, ROTATION_SCHEDULES } from './credential.ts';

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

const File = Type.Object({ credential: Type.Optional(Type.Array(CredentialTable)) }, { additionalProperties: false });

/**
 * Reads what an operator says of credentials; a file that is not there says nothing.
 * @param defaultTenant tenant of credentials that name none
 * @throws ToolLayerError E3801 naming the file and every fault in it, without values
 */
export async function readCredentials(path: string, defaultTenant: string): Promise<readonly Credential[]> {
  const fault = fileFault('file of credentials', path);
  const text = await readSmallText(path, fault);
  const { credential: tables = [] } = text === undefined ? {} : parseTomlAs(text, File, fault);
  const credentials = tables.map((table, at) => credentialOf(table, at, fault, defaultTenant));
  const keys = credentials.map(({ tenantId, name }) => `${tenantId}\0${name}`);
  const twice = keys.findIndex((key, at) => keys.indexOf(key) !== at);
  if (twice >= 0) throw fault(`has faults: /credential/${twice} has the name and tenant of an earlier one`);
  return credentials;
}

function credentialOf(table: CredentialTable, at: number, fault: FileFault, defaultTenant: string): Credential {
  const { name, tenant = defaultTenant, credential_type: type, metadata = {} } = table;
  const { rotation_schedule: rotationSchedule = 'on_demand', expires_at, rotated_at } = table;
  if (rotationSchedule !== 'on_demand' && rotated_at === undefined)
    throw fault(`has faults: /credential/${at} needs rotated_at, from which its next rotation is counted`);
  const [expiresAt, rotatedAt] = [expires_at, rotated_at].map((time) =>
    time === undefined ? undefined : Date.parse(time),
  );
  if (Number.isNaN(expiresAt) || Number.isNaN(rotatedAt))
    throw fault(`has faults: /credential/${at} names a time that does not exist`);
  return {
    ...{ name, tenantId: tenant, type, rotationSchedule },
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(rotatedAt === undefined ? {} : { rotatedAt }),
    ...(metadata.service_name === undefined ? {} : { serviceName: metadata.service_name }),
    ...(metadata.scopes === undefined ? {} : { scopes: metadata.scopes }),
  };
}
