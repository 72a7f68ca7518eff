import { sha256 } from '@sallyport/std/sha256';
import type { GivenDocument } from '../../domain/document/given-document.ts';
import { broken } from '../../domain/document/structured-answer.ts';
import { isObject } from '../../domain/shape/is-object.ts';
import type { DocumentStatus } from '../document-stores.port.ts';

type Members = Readonly<Record<string, unknown>>;

/** Answers to a request for several documents, each with what it answers. */
export interface ServerAnswer<Found> {
  readonly found: readonly { readonly ref: string; readonly answer: Found }[];
  readonly missing: readonly { readonly ref: string; readonly reason: string }[];
}

/**
 * Reads the answers to several references. An answer that does not say what it answers is taken for the reference of
 * its id, or for the only one.
 * @throws ToolLayerError E3606 when it is not as the protocol says, or answers what nobody asked
 */
export function answersIn<Found extends { readonly document_id: string }>(
  structured: Members,
  asked: readonly string[],
  read: (value: unknown) => Found,
  refOf: (answer: Found) => string = ({ document_id }) => document_id,
): ServerAnswer<Found> {
  const { documents = [structured], missing = [] } = structured;
  if (!Array.isArray(documents) || !Array.isArray(missing)) throw broken('its lists are no lists');
  const found = (documents as readonly unknown[]).map((value) => {
    const answer = read(value);
    const { ref: said } = value as Members;
    const ref = nameIn(said, asked) ?? nameIn(refOf(answer), asked) ?? onlyOne(asked);
    if (ref === undefined) throw broken('it answers what was not asked');
    return { ref, answer };
  });
  return { found, missing: (missing as readonly unknown[]).map((value) => missingIn(value, asked)) };
}

function missingIn(value: unknown, asked: readonly string[]): ServerAnswer<never>['missing'][number] {
  const { ref: said, reason } = isObject(value) ? value : {};
  const ref = nameIn(said, asked) ?? onlyOne(asked);
  if (ref === undefined || typeof reason !== 'string') throw broken('it misses what was not asked');
  return { ref, reason };
}

const nameIn = (said: unknown, asked: readonly string[]): string | undefined => asked.find((one) => one === said);
const onlyOne = (asked: readonly string[]): string | undefined => (asked.length === 1 ? asked[0] : undefined);

const TEXTS = ['title', 'content_type', 'source', 'created_at', 'updated_at'] as const;

/**
 * A document of an answer: known members of the right type alone.
 * @throws ToolLayerError E3606 for one without an id, a version or a content, or whose content is another than it says
 */
export function documentIn(value: unknown): GivenDocument {
  if (!isObject(value)) throw broken('a document is no object');
  const { document_id, version, content, uri, content_sha256: said, tags, authority } = value;
  if (!isText(document_id) || !isText(version) || typeof content !== 'string')
    throw broken('a document lacks its id, its version or its content');
  const hash = sha256(content);
  if (said !== undefined && said !== hash) throw broken(`the content of ${document_id} does not fit its hash`);
  return {
    document_id,
    version,
    uri: isText(uri) ? uri : `document://${document_id}`,
    content,
    content_sha256: hash,
    ...Object.fromEntries(TEXTS.flatMap((name) => (isText(value[name]) ? [[name, value[name]]] : []))),
    ...(Array.isArray(tags) ? { tags: tags.filter(isText) } : {}),
    ...(typeof authority === 'number' ? { authority } : {}),
    ...deprecationIn(value),
  };
}

function deprecationIn({ status, deprecation }: Members): Pick<GivenDocument, 'status' | 'deprecation'> {
  if (status !== 'deprecated') return status === 'active' ? { status } : {};
  const { reason, successor_id, deprecated_at } = isObject(deprecation) ? deprecation : {};
  return {
    status,
    deprecation: {
      reason: isText(reason) ? reason : '',
      ...(isText(successor_id) ? { successor_id } : {}),
      deprecated_at: isText(deprecated_at) ? deprecated_at : '',
    },
  };
}

/** @throws ToolLayerError E3606 for one without an id */
export function statusIn(value: unknown): DocumentStatus {
  if (!isObject(value) || !isText(value['document_id'])) throw broken('a document lacks its id');
  const { status, deprecation } = deprecationIn(value);
  const successor = deprecation?.successor_id;
  return {
    document_id: value['document_id'],
    status: status ?? 'active',
    ...(successor === undefined ? {} : { successor_id: successor }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
