import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { KiB } from '@sallyport/std/bytes';
import S3rver from 's3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { objectStoreConformance } from '../../bridges/conformance/object-store.conformance.ts';
import { IN_ARCHIVE, type ObjectStore } from '../../bridges/object-store.port.ts';
import { archivingServer, listening, XML } from './archiving-server.fixture.ts';
import { type S3Settings, s3ObjectStore } from './s3-object-store.ts';

const BYTES = Buffer.from('a state');
const KEY = { id: 'S3RVER', secret: 'S3RVER' };

const settingsAt = (url: string): S3Settings => ({
  ...{ url, region: 'us-east-1', archiveClass: '', readableDays: 7 },
  key: async () => KEY,
});
const storeAt = (url: string, more: Partial<S3Settings> = {}): ObjectStore =>
  s3ObjectStore({ ...settingsAt(url), ...more });

describe('a server of the npm registry', () => {
  let folder: string;
  let server: S3rver;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sallyport-s3-'));
    const configureBuckets = Array.from({ length: 9 }, (_, at) => ({ name: `bucket-${at}`, configs: [] }));
    server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: folder, configureBuckets });
    const { port } = await server.run();
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  // Each case gets a bucket of its own.
  let cases = 0;
  objectStoreConformance(test, 's3rver', async () => {
    cases += 1;
    return { store: storeAt(`${url}/bucket-${cases}`), close: async () => undefined };
  });

  test('STA-03.4 a bucket that is missing is an error, not a missing object', async () => {
    const store = storeAt(`${url}/unknown`);
    const refused = { code: 'E3823', message: expect.stringContaining('object_store.s3_url') };
    await expect(store.get('acme/one', 1)).rejects.toMatchObject(refused);
    await expect(store.put('acme/one', BYTES, 'kept')).rejects.toMatchObject(refused);
    await expect(store.remove('acme/one')).rejects.toMatchObject(refused);
  });

  test('STA-06.3 a key that the server does not know is refused', async () => {
    const store = storeAt(`${url}/bucket-0`, { key: async () => ({ id: 'UNKNOWN', secret: 'S3RVER' }) });
    await expect(store.put('acme/one', BYTES, 'kept')).rejects.toMatchObject({
      code: 'E3823',
      message: expect.stringContaining('object_store.s3_key_id_secret'),
    });
  });
});

describe('a server that answers as S3 does with archive classes', () => {
  test('STA-06.4 an archived object is asked for, is pending, and is readable in the end', async () => {
    await using server = await archivingServer(KEY);
    const store = storeAt(server.url, { archiveClass: 'GLACIER' });
    await store.put('acme/kept', BYTES, 'kept');
    await store.put('acme/archived', BYTES, 'archived');
    expect(await store.get('acme/kept', BYTES.length)).toEqual(new Uint8Array(BYTES));
    expect(await store.bringBack('acme/kept')).toBe('readable');
    expect(await store.get('acme/archived', BYTES.length)).toBe(IN_ARCHIVE);
    expect(await store.bringBack('acme/archived')).toBe('pending');
    expect(await store.bringBack('acme/archived')).toBe('pending');
    expect(await store.get('acme/archived', BYTES.length)).toBe(IN_ARCHIVE);
    server.finish();
    expect(await store.bringBack('acme/archived')).toBe('readable');
    expect(await store.get('acme/archived', BYTES.length)).toEqual(new Uint8Array(BYTES));
    expect(await store.bringBack('acme/unknown')).toBeUndefined();
    expect(new Set(server.asked)).toEqual(new Set(['acme/archived <Days>7</Days>']));
    await store.remove('acme/archived');
    expect(await store.bringBack('acme/archived')).toBeUndefined();
  });

  test('STA-06.3 a wrong secret is refused, and is in no error', async () => {
    await using server = await archivingServer(KEY);
    const store = storeAt(server.url, { key: async () => ({ id: KEY.id, secret: 'secret-of-the-key' }) });
    const asks = [
      () => store.put('acme/one', BYTES, 'kept'),
      () => store.get('acme/one', 1),
      () => store.remove('acme/one'),
    ];
    for (const ask of asks) {
      const refused = await ask().catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ code: 'E3823', message: expect.stringContaining('signature') });
      expect(inspect(refused, { depth: 9 })).not.toContain('secret-of-the-key');
    }
  });
});

describe('servers that do not answer as they should', () => {
  const answering = async (listener: RequestListener, work: (store: ObjectStore) => Promise<void>): Promise<void> => {
    await using server = await listening(listener);
    await work(storeAt(`${server.url}/bucket`));
  };

  test('STA-03.4 one that cannot be reached, and each other refusal, is E3823', async () => {
    const refused = { code: 'E3823' };
    await expect(storeAt('http://127.0.0.1:1/bucket').get('acme/one', 1)).rejects.toMatchObject(refused);
    for (const [status, code, words] of [
      [403, 'AccessDenied', 'right to read'],
      [507, 'XMinioStorageFull', 'full'],
      [503, 'SlowDown', '503 (SlowDown)'],
      [500, '<script>', '500'],
    ] as const)
      await answering(
        (_request, response) => response.writeHead(status, XML).end(`<Error><Code>${code}</Code></Error>`),
        async (store) => {
          const saying = { ...refused, message: expect.stringContaining(words) };
          await expect(store.put('acme/one', BYTES, 'kept')).rejects.toMatchObject(saying);
          await expect(store.get('acme/one', 1)).rejects.toMatchObject(saying);
          await expect(store.remove('acme/one')).rejects.toMatchObject(saying);
        },
      );
  });

  test('STA-03.4 a redirect is not followed', async () => {
    let isReached = false;
    await using other = await listening((_request, response) => {
      isReached = true;
      response.end('a state');
    });
    await answering(
      (_request, response) => response.writeHead(307, { location: `${other.url}/stolen` }).end(),
      async (store) => {
        await expect(store.get('acme/one', 7)).rejects.toMatchObject({ code: 'E3823' });
        await expect(store.put('acme/one', BYTES, 'kept')).rejects.toMatchObject({ code: 'E3823' });
      },
    );
    expect(isReached).toBe(false);
  });

  test('STA-03.4 of an endless body no more is read than the object has', async () => {
    await answering(
      (_request, response) => {
        const more = (): void => void (response.destroyed || response.write(Buffer.alloc(64 * KiB), more));
        more();
      },
      async (store) => expect(await store.get('acme/one', 7)).toBeUndefined(),
    );
  });
});

test('STA-06.3 an address that is none is refused at the start', () => {
  for (const url of ['', 'bucket', 'ftp://127.0.0.1/bucket', 's3://bucket'])
    expect(() => storeAt(url), url).toThrow('object_store.s3_url');
});
