import { failure, isFailure } from '@sallyport/std/error/failure';
import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { Fault } from '../../../api/schemas/error.ts';
import { type JsonSchemaObject, NoInput } from '../../../api/schemas/identifiers.ts';
import {
  ViewDetail,
  ViewListResponse,
  ViewNameRequest,
  ViewPutRequest,
  ViewRemoveResponse,
} from '../../../api/schemas/visibility.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import type { ToolVersion } from '../../domain/tool/tool-version.ts';
import type { StoredView } from '../../visibility/visibility.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { registryEvent } from '../tools/registry-event.ts';

type Reading = Pick<OperationParts, 'visibility' | 'visible'>;
type Changing = Reading & Pick<OperationParts, 'schemas' | 'ledger' | 'clock'>;

/** Faults that a message quotes; `details.faults` has them all. */
const FAULTS_QUOTED_MAX = 3;

/** The views of the tenant, by name. */
export const listViews = operation({
  name: 'views.list',
  summary: 'List the views',
  method: 'GET',
  path: '/v1/views',
  status: 200,
  access: 'viewer',
  input: NoInput,
  output: ViewListResponse,
  run:
    ({ visibility, visible }: Reading) =>
    (_input, { principal: { tenantId } }) => {
      const stored = [...(visibility.rulesOf(tenantId)?.views.values() ?? [])];
      const views = stored.map(({ view, changed_at }) => {
        const { entries, dropped } = visible.resolve(tenantId, view);
        const { name, description, agents, conflict } = view;
        return {
          name,
          ...(description === undefined ? {} : { description }),
          agents: [...agents],
          conflict,
          tool_count: entries.size,
          dropped_count: dropped.length,
          changed_at,
        };
      });
      return { views: views.sort((a, b) => (a.name < b.name ? -1 : 1)) };
    },
});

/** One view, resolved against the present tools. */
export const getView = operation({
  name: 'views.get',
  summary: 'One view with the tools that it shows and the tools that it dropped',
  method: 'GET',
  path: '/v1/views/{name}',
  status: 200,
  access: 'viewer',
  input: ViewNameRequest,
  output: ViewDetail,
  run:
    ({ visibility, visible }: Reading) =>
    ({ name }, { principal: { tenantId } }) => {
      const stored = visibility.rulesOf(tenantId)?.views.get(name);
      return stored === undefined ? failure('E3809', `There is no view ${name}.`) : detailOf(visible, tenantId, stored);
    },
});

/** Creates or replaces a view; a view with a fault changes nothing (REG-13). */
export const putView = operation({
  name: 'views.put',
  summary: 'Make or replace a view (REG-13)',
  method: 'POST',
  path: '/v1/views',
  status: 200,
  access: 'operator',
  input: ViewPutRequest,
  output: ViewDetail,
  run:
    (parts: Changing) =>
    async ({ view }, asker) => {
      const { tenantId } = asker.principal;
      const faults = parts.visible
        .viewFaults(tenantId, view, (tool, given) => argumentFaults(parts, tool, given))
        .map((fault) => ({ ...fault, path: `/view${fault.path}` }));
      if (faults.length > 0) return failure('E3801', inWords(faults), { details: { faults } });
      const { name, agents } = view;
      const eventsOf = () => [
        registryEvent(parts, asker, name, {
          change: 'view-put',
          view: name,
          agents,
          view_hash: sha256(canonicalJson(view)),
        }),
      ];
      const stored = await recordedChange(parts.ledger, eventsOf, (keep) =>
        parts.visibility.putView(tenantId, view, keep),
      );
      return detailOf(parts.visible, tenantId, stored);
    },
});

/** From now on its agents see what they would see without it; running calls continue. */
export const removeView = operation({
  name: 'views.remove',
  summary: 'Remove a view; its agents see what they would without it',
  method: 'DELETE',
  path: '/v1/views/{name}',
  status: 200,
  access: 'operator',
  input: ViewNameRequest,
  output: ViewRemoveResponse,
  run:
    (parts: Changing) =>
    async ({ name }, asker) => {
      const { tenantId } = asker.principal;
      const eventsOf = () => [registryEvent(parts, asker, name, { change: 'view-removed', view: name })];
      const removed = await recordedChange(parts.ledger, eventsOf, (keep) =>
        parts.visibility.removeView(tenantId, name, keep),
      );
      return { name, removed };
    },
});

function detailOf(visible: Reading['visible'], tenantId: string, { view, changed_at }: StoredView): ViewDetail {
  const { entries, dropped } = visible.resolve(tenantId, view);
  const tools = [...entries.values()].map(({ name, tool: { manifest, contentHash } }) => ({
    name,
    tool_id: manifest.tool_id,
    version: manifest.version,
    content_hash: contentHash,
  }));
  return {
    view,
    changed_at,
    tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)),
    dropped: dropped.map(({ source, tool, toolId, name, reason }) => ({
      source,
      tool,
      ...(toolId === undefined ? {} : { tool_id: toolId }),
      ...(name === undefined ? {} : { name }),
      reason,
    })),
  };
}

/** Keywords of a schema about single members; all other keywords judge which members come together. */
const OF_MEMBERS = [
  '$schema',
  '$id',
  '$defs',
  'definitions',
  'type',
  'properties',
  'patternProperties',
  'additionalProperties',
];

/** Only some arguments are set, so required members are left to the call to check. */
function argumentFaults({ schemas }: Changing, { manifest }: ToolVersion, given: object): readonly Fault[] {
  const whole: JsonSchemaObject = manifest.parameters_schema;
  const partial = Object.fromEntries(
    OF_MEMBERS.filter((keyword) => keyword in whole).map((keyword) => [keyword, whole[keyword]]),
  );
  const schema = schemas.compile(partial);
  if (isFailure(schema)) return [{ path: '', code: schema.code, keyword: 'schema', message: schema.message }];
  return schema.check(given, { coerce: false }).faults.map((fault) => ({ ...fault, code: 'E3801' }));
}

function inWords(faults: readonly Fault[]): string {
  const quoted = faults.slice(0, FAULTS_QUOTED_MAX).map(({ path, message }) => `${path} ${message}`);
  const more = faults.length - quoted.length;
  return `The view was not taken: ${quoted.join(' ')}${more > 0 ? ` And ${more} more.` : ''}`;
}
