import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** A certificate and its key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority for one test. */
export interface Authority extends Certificate {
  /** Issues a certificate for a name, valid for 127.0.0.1 as a server and as a client. */
  issue(name: string): Certificate;
}

const OIDS = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  basicConstraints: '0603551d13',
  subjectAltName: '0603551d11',
} as const;

export function createAuthority(): Authority {
  const { privateKey, publicKey } = newKey();
  const cert = certificate('test authority', publicKey, 'test authority', privateKey, true);
  return {
    cert,
    key: pem(privateKey),
    issue(name) {
      const own = newKey();
      return { cert: certificate(name, own.publicKey, 'test authority', privateKey, false), key: pem(own.privateKey) };
    },
  };
}

function newKey(): { privateKey: KeyObject; publicKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

let serials = 1;

/** A certificate in X.509 version 3, with only the fields that TLS needs (RFC 5280). */
function certificate(subject: string, key: KeyObject, issuer: string, signer: KeyObject, isAuthority: boolean): string {
  const algorithm = tlv(0x30, hex(OIDS.ecdsaWithSha256));
  const basic = extension(OIDS.basicConstraints, tlv(0x30, isAuthority ? hex('0101ff') : Buffer.alloc(0)));
  const names = extension(OIDS.subjectAltName, tlv(0x30, tlv(0x87, Buffer.of(127, 0, 0, 1))));
  const body = tlv(
    0x30,
    tlv(0xa0, hex('020102')),
    tlv(0x02, Buffer.of(serials++ & 0x7f)),
    algorithm,
    nameOf(issuer),
    tlv(0x30, time('250101000000Z'), time('491231000000Z')),
    nameOf(subject),
    key.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, tlv(0x30, basic, names)),
  );
  const signature = tlv(0x03, Buffer.of(0), sign('sha256', body, signer));
  const text = tlv(0x30, body, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
}

function nameOf(text: string): Buffer {
  return tlv(0x30, tlv(0x31, tlv(0x30, hex(OIDS.commonName), tlv(0x0c, Buffer.from(text)))));
}

function extension(oid: string, value: Buffer): Buffer {
  return tlv(0x30, hex(oid), tlv(0x04, value));
}

function time(text: string): Buffer {
  return tlv(0x17, Buffer.from(text));
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** A DER element: tag, length, value. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size =
    length < 0x80
      ? Buffer.of(length)
      : length < 0x100
        ? Buffer.of(0x81, length)
        : Buffer.of(0x82, length >> 8, length & 0xff);
  return Buffer.concat([Buffer.of(tag), size, value]);
}
