import { failure } from '@sallyport/std/error/failure';
import { type UpstreamDefinition, UpstreamDetail, UpstreamNameRequest } from '../../../api/schemas/upstream.ts';
import { secretArgument } from '../../mcp-servers/upstreams.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

const NAMED_MAX = 100;
const HIDDEN = '[hidden]';
/** A value that refers to a secret instead of holding one. */
const PLACEHOLDER = /^[^{}]{0,32}\{\{[A-Za-z0-9_.-]+\}\}$/;

/** One upstream with all details for an operator (REG-09). */
export const getUpstream = operation({
  name: 'upstreams.get',
  summary: 'One upstream: its state, what it offers, what is wrong with it (REG-09)',
  method: 'GET',
  path: '/v1/upstreams/{name}',
  status: 200,
  access: 'viewer',
  input: UpstreamNameRequest,
  output: UpstreamDetail,
  run:
    ({ upstreams, quarantine }: Pick<OperationParts, 'upstreams' | 'quarantine'>) =>
    ({ name }, { principal: { tenantId } }) => {
      const current = upstreams.current(tenantId, name);
      if (current === undefined) return failure('E3809', `There is no upstream ${name}.`);
      const absent = quarantine.tools(tenantId, name).filter(({ block }) => block === 'absent');
      return {
        upstream: current.status,
        definition: withoutSecrets(current.definition),
        malformed: current.malformed.slice(0, NAMED_MAX).map((entry) => ({ ...entry })),
        absent_tools: absent.slice(0, NAMED_MAX).map(({ toolId }) => toolId),
      };
    },
});

/** The definition, with every value hidden that may be a secret and is not a reference. */
const withoutSecrets = (definition: UpstreamDefinition): UpstreamDefinition => shownAs(definition, () => HIDDEN);

/** The definition with `{{NAME}}` in place of such a value, named after its variable or header. */
export const withPlaceholders = (definition: UpstreamDefinition): UpstreamDefinition =>
  shownAs(definition, (name) => `{{${name.replace(/[^A-Za-z0-9_.-]/g, '_')}}}`);

function shownAs(definition: UpstreamDefinition, standIn: (name: string) => string): UpstreamDefinition {
  const hidden = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, PLACEHOLDER.test(value) ? value : standIn(name)]),
    );
  const { transport } = definition;
  if (transport.type === 'embedded') return definition;
  if (transport.type !== 'stdio') {
    const { headers } = transport;
    const url = withoutUserinfo(transport.url);
    return {
      ...definition,
      transport: { ...transport, url, ...(headers === undefined ? {} : { headers: hidden(headers) }) },
    };
  }
  const { env, args } = transport;
  const shown = args?.map((arg, at) => {
    const name = secretArgument(args, at);
    return name === undefined ? arg : standIn(name);
  });
  return {
    ...definition,
    transport: {
      ...transport,
      ...(shown === undefined ? {} : { args: shown }),
      ...(env === undefined ? {} : { env: hidden(env) }),
    },
  };
}

/** Some servers take their key in the query. */
function withoutUserinfo(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') url.username = url.password = '';
  for (const name of new Set(url.searchParams.keys())) url.searchParams.set(name, 'hidden');
  return url.href;
}
