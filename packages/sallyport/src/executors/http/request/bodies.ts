import { randomBytes } from 'node:crypto';
import type { HttpBody, HttpField } from '../../../registry/http-operation.ts';
import { argumentRefused } from './arguments-refused.ts';
import { asPairs, escapeAll, scalar } from './styles.ts';

/** A body ready to be sent. */
export interface WrittenBody {
  readonly bytes: Buffer;
  readonly contentType: string;
}

/**
 * Encodes the body as the operation says.
 * @throws ToolLayerError E3509 when the argument does not fit the encoding
 */
export function writeBody(body: HttpBody, value: unknown): WrittenBody {
  const { content_type: contentType, property } = body;
  switch (body.encoding) {
    case 'json':
      return { bytes: Buffer.from(JSON.stringify(value)), contentType };
    case 'text':
      return { bytes: Buffer.from(textOf(property, value)), contentType };
    case 'base64':
      return { bytes: decoded(property, textOf(property, value)), contentType };
    case 'form':
      return { bytes: Buffer.from(formOf(body, membersOf(property, value))), contentType };
    case 'multipart':
      return multipart(body, membersOf(property, value));
  }
}

function textOf(property: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw argumentRefused(property, 'must be a text');
}

function membersOf(property: string, value: unknown): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).filter(([, member]) => member !== undefined);
  }
  throw argumentRefused(property, 'must be an object with one member for each field');
}

/** Buffer.from() drops invalid base64; a file must not change silently. */
function decoded(property: string, text: string): Buffer {
  if (/^[A-Za-z0-9+/_-]*={0,2}\s*$/.test(text)) return Buffer.from(text, 'base64');
  throw argumentRefused(property, 'must be base64');
}

/** OpenAPI 3.1 §4.8.14.4: lists repeat their name and objects are JSON, unless the operation says otherwise. */
function formOf({ fields }: HttpBody, members: readonly [string, unknown][]): string {
  return members
    .flatMap(([name, value]) => {
      const { style, explode = style === undefined || style === 'form' }: HttpField = own(fields, name);
      const isPlainObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      const written = isPlainObject && style === undefined ? JSON.stringify(value) : value;
      return asPairs(name, written, style ?? 'form', explode, escapeAll);
    })
    .map((pair) => pair.join('='))
    .join('&');
}

function own(fields: HttpBody['fields'], name: string): HttpField {
  return fields !== undefined && Object.hasOwn(fields, name) ? (fields[name] ?? {}) : {};
}

function multipart({ property, fields }: HttpBody, members: readonly [string, unknown][]): WrittenBody {
  const boundary = `sallyport-${randomBytes(18).toString('hex')}`;
  const parts = members.flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value];
    return values.flatMap((one) => [
      Buffer.from(`--${boundary}\r\n`),
      ...partOf(property, name, one, own(fields, name)),
    ]);
  });
  return {
    bytes: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

function partOf(property: string, name: string, value: unknown, field: HttpField): Buffer[] {
  const quoted = quote(name);
  const disposition = `Content-Disposition: form-data; name=${quoted}`;
  if (field.base64 === true) {
    const type = field.content_type ?? 'application/octet-stream';
    const head = `${disposition}; filename=${quoted}\r\nContent-Type: ${type}\r\n\r\n`;
    return [Buffer.from(head), decoded(property, textOf(property, value)), Buffer.from('\r\n')];
  }
  const json = typeof value === 'object' && value !== null;
  const type = field.content_type ?? (json ? 'application/json' : undefined);
  const typed = type === undefined ? '' : `\r\nContent-Type: ${type}`;
  return [Buffer.from(`${disposition}${typed}\r\n\r\n${scalar(value)}\r\n`)];
}

/** Names escaped as browsers do (WHATWG HTML §4.10.22.8), so that a name cannot start a header. */
const quote = (name: string): string =>
  `"${name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')}"`;
