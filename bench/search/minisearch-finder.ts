import type { ToolVersion } from '../../packages/sallyport/src/domain/tool/tool-version.ts';
import { parametersOf } from '../../packages/sallyport/src/registry/search/keywords/tool-fields.ts';
import type { Finder } from './recall.ts';

const FIELDS = ['id', 'name', 'description', 'parameters'] as const;

/** MiniSearch as it comes, over the same fields: the peer for search by words. Undefined when it is not installed. */
export async function miniSearchFinder(tools: readonly ToolVersion[]): Promise<Finder | undefined> {
  const loaded = await import('minisearch').catch(() => undefined);
  if (loaded === undefined) return undefined;
  const index = new loaded.default({ fields: [...FIELDS], storeFields: [], idField: 'key' });
  index.addAll(
    tools.map(({ manifest }) => ({
      key: manifest.tool_id,
      id: manifest.tool_id,
      name: manifest.tool_name,
      description: manifest.description,
      parameters: parametersOf(manifest)
        .map(({ name, description }) => `${name} ${description}`)
        .join(' '),
    })),
  );
  return (query) => index.search(query).map(({ id }) => String(id));
}
