import { isIP } from 'node:net';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ComposioImport, ImportReport } from '../../../api/schemas/imports.ts';
import { createGuardedFetch } from '../../external/guarded-fetch.ts';
import { OUTBOUND_TIMES } from '../../external/outbound-http.ts';
import type { ComposioListing, ComposioSource } from '../../registry/importer.port.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { importReport } from './import-report.ts';
import { knownIds } from './known-ids.ts';

/** How long the whole list may take, in ms. */
const LISTING_MS_MAX = 60_000;
const BASE_URL = 'https://backend.composio.dev/api/v3';
const SECRET = 'composio_api_key';
/** Characters allowed in a header value: a secret with others could begin a header of its own (RFC 9110 §5.5). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** Registers tools of Composio, as its API lists them for the project that the key belongs to (REG-02, EXE-08). */
export const importComposio = operation({
  name: 'tools.import-composio',
  summary: 'Register tools of Composio, as its API lists them',
  method: 'POST',
  path: '/v1/imports/composio',
  status: 200,
  access: 'operator',
  input: ComposioImport,
  output: ImportReport,
  run:
    (parts: OperationParts) =>
    async ({ bump, dry_run, ...asked }, asker) => {
      const address = addressOf(asked.base_url ?? BASE_URL);
      if (isFailure(address)) return address;
      if (asked.user_id !== undefined && asked.user_from !== undefined) return twoUsers();
      const apiKey = await keyOf(parts, asker, asked.secret ?? SECRET);
      const fetch = createGuardedFetch(parts.outbound, [address], OUTBOUND_TIMES);
      const tools = await listed(parts, { ...listingOf(asked), fetch, apiKey }, asker);
      const whole = isWhole(asked) ? 'composio' : undefined;
      const imported = parts.importComposio(tools, { ...sourceOf(asked), ...(await knownIds(parts, asker)) });
      return importReport(parts, asker, imported, { bump, dry_run, whole });
    },
});

type Asked = Omit<ComposioImport, 'bump' | 'dry_run'>;

/** The address that gets the key: https, unless it is localhost or an IP address. */
function addressOf(baseUrl: string): { readonly host: string; readonly port: number } | Failure {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || /[\s\\{}?#]/.test(baseUrl) || url.username !== '' || url.password !== '')
    return badAddress('must be an address without credentials, query and fragment');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isPlain = url.protocol !== 'https:';
  if (isPlain && host !== 'localhost' && isIP(host) === 0)
    return badAddress('must be https: the API key is sent there');
  return { host, port: url.port === '' ? (isPlain ? 80 : 443) : Number(url.port) };
}

function badAddress(what: string): Failure {
  const fault = { path: '/base_url', code: 'E3801', keyword: 'format', message: what };
  return failure('E3801', `The request for tools.import-composio is not well formed: /base_url ${what}.`, {
    details: { faults: [fault] },
  });
}

const twoUsers = (): Failure =>
  failure('E3801', 'Give either user_id or user_from: the tools use the account of one user.');

async function keyOf({ secrets }: OperationParts, { principal, caller }: Asker, name: string): Promise<string> {
  const values = await secrets.read(principal.tenantId, [name], { token: caller.token });
  const key = values.get(name);
  if (key !== undefined && HEADER_VALUE.test(key)) return key;
  const message = `The secret ${name} with the API key of Composio holds characters that no header can carry.`;
  throw new ToolLayerError('E3302', message, { details: { missing: [name] } });
}

/** The list; rejects when the caller goes away or it takes too long. */
async function listed(
  { listComposio }: Pick<OperationParts, 'listComposio'>,
  listing: Omit<ComposioListing, 'signal'>,
  { caller }: Asker,
): Promise<readonly unknown[]> {
  const deadline = AbortSignal.timeout(LISTING_MS_MAX);
  const signal = caller.signal === undefined ? deadline : AbortSignal.any([deadline, caller.signal]);
  try {
    return await listComposio({ ...listing, signal });
  } catch (thrown) {
    if (thrown !== deadline.reason) throw thrown;
    throw new ToolLayerError('E3306', `Composio took longer than ${LISTING_MS_MAX} ms to list its tools.`);
  }
}

function listingOf({
  toolkit,
  tools,
  search,
  base_url,
}: Asked): Pick<ComposioListing, 'toolkit' | 'slugs' | 'search' | 'baseUrl'> {
  return {
    ...(toolkit === undefined ? {} : { toolkit }),
    ...(tools === undefined ? {} : { slugs: tools }),
    ...(search === undefined ? {} : { search }),
    ...(base_url === undefined ? {} : { baseUrl: base_url }),
  };
}

function sourceOf({ name, base_url, secret, connected_account_id, user_id, user_from }: Asked): ComposioSource {
  return {
    ...(name === undefined ? {} : { name }),
    ...(base_url === undefined ? {} : { baseUrl: base_url }),
    ...(secret === undefined ? {} : { secret }),
    ...(connected_account_id === undefined ? {} : { connectedAccountId: connected_account_id }),
    ...(user_id === undefined ? {} : { userId: user_id }),
    ...(user_from === undefined ? {} : { userFrom: user_from }),
  };
}

/** A partial import says nothing about missing tools; a toolkit is a whole source under a name of its own. */
function isWhole({ tools, search, toolkit, name }: Asked): boolean {
  return tools === undefined && search === undefined && (toolkit === undefined || name !== undefined);
}
