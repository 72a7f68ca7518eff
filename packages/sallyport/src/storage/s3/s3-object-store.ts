import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { S3mini, S3ServiceError } from 's3mini';
import { IN_ARCHIVE, isObjectName, type ObjectStore } from '../../bridges/object-store.port.ts';

/** A bucket, and how its objects are kept. */
export interface S3Settings {
  /** Address of the bucket: `https://host/bucket` or `https://bucket.host`. */
  readonly url: string;
  readonly region: string;
  /** Reads the key for each request. */
  readonly key: () => Promise<{ readonly id: string; readonly secret: string }>;
  /** Storage class of archived objects, such as `GLACIER`; empty: the usual one of the bucket. */
  readonly archiveClass: string;
  /** Days for which an object stays readable that was brought back. */
  readonly readableDays: number;
}

/** Longest wait for an answer, ms. */
const ANSWER_MS = 120_000;
/** Seconds for which a signed address is good. */
const SIGNED_SECONDS = 300;

/** Objects in a bucket of any service that speaks as S3 does (STA-03, STA-06). @throws ToolLayerError E3801 for an invalid URL */
export function s3ObjectStore(settings: S3Settings): ObjectStore {
  if (!/^https?:$/.test(URL.parse(settings.url)?.protocol ?? ''))
    throw new ToolLayerError(
      'E3801',
      'object_store.s3_url is no http(s) address of a bucket, such as https://s3.example.com/bucket.',
    );
  const inBucket = async <T>(name: string, action: string, work: (client: S3mini) => Promise<T>): Promise<T> => {
    if (!isObjectName(name)) throw new ToolLayerError('E3900', 'The name of an object is not a name.');
    const client = await clientOf(settings);
    return work(client).catch((thrown: unknown) => {
      throw refusal(action, thrown);
    });
  };
  const archived = settings.archiveClass === '' ? {} : { 'x-amz-storage-class': settings.archiveClass };
  return {
    put: (name, bytes, use) =>
      inBucket(name, 'store an object', async (client) => {
        const headers = use === 'archived' ? archived : {};
        await client.putObject(name, bytes, 'application/octet-stream', undefined, headers, bytes.length);
      }),
    get: (name, size) => inBucket(name, 'read an object', (client) => read(client, name, size)),
    bringBack: (name) =>
      inBucket(name, 'bring an object back', (client) => bringBack(client, name, settings.readableDays)),
    remove: (name) =>
      inBucket(name, 'remove an object', async (client) => {
        await client.deleteObject(name);
      }),
  };
}

async function clientOf({ url, region, key }: S3Settings): Promise<S3mini> {
  const { id, secret } = await key();
  return new S3mini({
    accessKeyId: id,
    secretAccessKey: secret,
    endpoint: url,
    region,
    requestAbortTimeout: ANSWER_MS,
    fetch: fetchStrictly,
  });
}

/** A redirect is not followed, and a missing bucket is not taken for a missing object. */
async function fetchStrictly(address: string | URL | Request, init?: RequestInit): Promise<Response> {
  const answer = await fetch(address, { ...init, redirect: 'error' });
  if (answer.status === 404 && init?.method !== 'HEAD') {
    const body = await answer.clone().text();
    if (codeIn(body) === 'NoSuchBucket') throw new S3ServiceError('', 404, 'NoSuchBucket', body);
  }
  return answer;
}

async function read(client: S3mini, name: string, size: number): Promise<Uint8Array | typeof IN_ARCHIVE | undefined> {
  try {
    const answer = await client.getObjectResponse(name);
    return answer === null ? undefined : await bytesOf(answer, size);
  } catch (thrown) {
    if (isService(thrown) && codeIn(thrown.body) === 'InvalidObjectState') return IN_ARCHIVE;
    throw thrown;
  }
}

/** The body, when it has this size; the rest of a longer one is not read. */
async function bytesOf(answer: Response, size: number): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for await (const part of answer.body ?? []) {
    if (at + part.length > size) return undefined;
    bytes.set(part, at);
    at += part.length;
  }
  return at === size ? bytes : undefined;
}

/**
 * Asks for an object of an archive class (RestoreObject): the client has no function for it, but signs addresses for any
 * method. 202 and 409 (`RestoreAlreadyInProgress`) say that it takes time, 200 that it is readable; services without archive
 * refuse, and then the object is readable or missing.
 */
async function bringBack(client: S3mini, name: string, days: number): Promise<'readable' | 'pending' | undefined> {
  const exists = await client.objectExists(name);
  if (exists === false) return undefined;
  const address = await client.getPresignedUrl('POST' as 'PUT', name, SIGNED_SECONDS, { restore: '' });
  const answer = await fetchStrictly(address, {
    method: 'POST',
    headers: { 'content-type': 'application/xml' },
    body: `<RestoreRequest xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Days>${days}</Days></RestoreRequest>`,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const body = await answer.text();
  if (answer.status === 200) return 'readable';
  if (answer.status === 202 || codeIn(body) === 'RestoreAlreadyInProgress') return 'pending';
  if (NOT_ARCHIVED.has(codeIn(body) ?? '')) return 'readable';
  throw new S3ServiceError('', answer.status, codeIn(body), body);
}

/** Answers to RestoreObject for an object that is in no archive class, and of services that have none. */
const NOT_ARCHIVED: ReadonlySet<string> = new Set(['InvalidObjectState', 'NotImplemented', 'MethodNotAllowed']);

const isService = (thrown: unknown): thrown is S3ServiceError => thrown instanceof S3ServiceError;

/** The code in the body of an error. */
const codeIn = (body: string | undefined): string | undefined => /<Code>(\w{1,64})<\/Code>/.exec(body ?? '')?.[1];

const REASONS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist. Make it, or correct object_store.s3_url',
  AccessDenied: 'the key may not do that. Give it the right to read, write and delete objects of the bucket',
  InvalidAccessKeyId: 'the service does not know the key. Correct the secret that object_store.s3_key_id_secret names',
  SignatureDoesNotMatch: 'the signature is wrong. Correct the secrets of the key and object_store.s3_region',
  XMinioStorageFull: 'its storage is full. Make room',
};

/** @returns E3823 that says what to change; the layer's own errors, such as E3302, stay as they are */
function refusal(action: string, thrown: unknown): ToolLayerError {
  if (thrown instanceof ToolLayerError) return thrown;
  const code = isService(thrown) ? (codeIn(thrown.body) ?? thrown.serviceCode) : undefined;
  const said = isService(thrown)
    ? `the service answered ${thrown.status}${code === undefined ? '' : ` (${code.replaceAll(/\W/g, '').slice(0, 64)})`}`
    : 'the service cannot be reached or does not answer. Check that it runs, and object_store.s3_url';
  return new ToolLayerError('E3823', `The object store could not ${action}: ${REASONS[code ?? ''] ?? said}.`, {
    cause: thrown,
  });
}
