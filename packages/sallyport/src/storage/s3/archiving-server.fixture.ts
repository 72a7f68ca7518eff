import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';

/** A server on loopback; disposing it ends its connections too. */
export interface Listening extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server with this listener. */
export async function listening(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A bucket with archive classes: `url` is its address. */
export interface ArchivingServer extends Listening {
  /** Objects that were asked for with RestoreObject, and for how long. */
  readonly asked: readonly string[];
  /** Ends all restores. */
  finish(): void;
}

interface Stored {
  readonly bytes: Buffer;
  readonly isArchived: boolean;
  readonly restore?: 'ongoing' | 'done';
}

export const XML = { 'content-type': 'application/xml' };
const errorOf = (code: string): string => `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`;

/**
 * Answers as S3's reference of PutObject, GetObject, HeadObject, DeleteObject and RestoreObject says for objects of the class
 * GLACIER, and judges signatures of version 4, in headers and in addresses.
 */
export async function archivingServer(key: { readonly id: string; readonly secret: string }): Promise<ArchivingServer> {
  const objects = new Map<string, Stored>();
  const asked: string[] = [];
  const server = await listening(async (request, response) => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    const name = url.pathname.replace('/bucket/', '');
    const body = await bodyOf(request);
    const refuse = (status: number, code: string): unknown => response.writeHead(status, XML).end(errorOf(code));
    if (!isSigned(request, url, key)) return refuse(403, 'SignatureDoesNotMatch');
    if (request.method === 'PUT') {
      objects.set(name, { bytes: body, isArchived: request.headers['x-amz-storage-class'] === 'GLACIER' });
      return response.writeHead(200, { etag: '"1"' }).end();
    }
    if (request.method === 'DELETE') {
      objects.delete(name);
      return response.writeHead(204).end();
    }
    const object = objects.get(name);
    if (object === undefined) return refuse(404, 'NoSuchKey');
    const { isArchived, restore } = object;
    if (request.method === 'HEAD')
      return response
        .writeHead(200, restore === undefined ? {} : { 'x-amz-restore': `ongoing-request="${restore === 'ongoing'}"` })
        .end();
    if (request.method === 'GET')
      return isArchived && restore !== 'done' ? refuse(403, 'InvalidObjectState') : response.end(object.bytes);
    if (!url.searchParams.has('restore')) return refuse(405, 'MethodNotAllowed');
    if (!isArchived) return refuse(403, 'InvalidObjectState');
    asked.push(`${name} ${/<Days>\d+<\/Days>/.exec(body.toString())?.[0]}`);
    if (restore === 'done') return response.writeHead(200).end();
    if (restore === 'ongoing') return refuse(409, 'RestoreAlreadyInProgress');
    objects.set(name, { ...object, restore: 'ongoing' });
    return response.writeHead(202).end();
  });
  const finish = (): void => {
    for (const [name, object] of objects)
      if (object.restore !== undefined) objects.set(name, { ...object, restore: 'done' });
  };
  return { ...server, url: `${server.url}/bucket`, asked, finish };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Signature version 4 of AWS, with an unsigned payload. */
function isSigned(
  { method, headers }: IncomingMessage,
  url: URL,
  { id, secret }: { readonly id: string; readonly secret: string },
): boolean {
  const given = url.searchParams;
  const header = /Credential=(\S+), SignedHeaders=(\S+), Signature=(\S+)/.exec(headers.authorization ?? '');
  const credential = header?.[1] ?? given.get('X-Amz-Credential') ?? '';
  const signedHeaders = header?.[2] ?? given.get('X-Amz-SignedHeaders') ?? '';
  const signature = header?.[3] ?? given.get('X-Amz-Signature');
  const time = String(headers['x-amz-date'] ?? given.get('X-Amz-Date'));
  const [keyId, ...scope] = credential.split('/');
  const query = [...given]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const fields = signedHeaders.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const request = [method, url.pathname, query, fields.join(''), signedHeaders, 'UNSIGNED-PAYLOAD'].join('\n');
  const hash = createHash('sha256').update(request).digest('hex');
  const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash].join('\n');
  const signingKey = scope.reduce<Buffer>((last, part) => hmac(last, part), Buffer.from(`AWS4${secret}`));
  return keyId === id && signature === hmac(signingKey, toSign).toString('hex');
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
