import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { sha256 } from '@sallyport/std/sha256';
import type { ExecutorKind, ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { Era } from '../../mcp-protocol.ts';
import { toolView } from './tool-view.ts';

/** Tools in the order of a list, page by page. */
export interface ToolPages {
  /** JSON text of one page, without the braces: `"tools":[…]` and, when there is another page, `,"nextCursor":…`. */
  page(cursor: string | undefined, era: Era): string;
  /** Equal for equal lists. */
  print(): string;
}

/** The tools of one upstream, under the names that its server gives them. */
export interface ServerTools extends ToolPages {
  /** By the server's name. */
  readonly toolIds: ReadonlyMap<string, string>;
}

/** The tools that one token may see. */
export interface ToolList extends ToolPages {
  readonly kinds: ReadonlyMap<string, ExecutorKind>;
  /** The tools of an upstream; undefined when the token sees none of it. */
  ofServer(upstream: string): ServerTools | undefined;
}

/** A tool and the name under which it is listed. */
interface NamedTool {
  readonly name: string;
  readonly manifest: ToolManifest;
}

export function toolListOf(manifests: readonly ToolManifest[], pageSize: number): ToolList {
  const servers = new Map<string, ServerTools>();
  return {
    ...pagesOf(
      manifests.map((manifest) => ({ name: manifest.tool_id, manifest })),
      pageSize,
    ),
    kinds: new Map(manifests.map((manifest) => [manifest.tool_id, manifest.executor.kind])),
    ofServer(upstream) {
      const known = servers.get(upstream);
      if (known !== undefined) return known;
      const own = manifests.flatMap((manifest) => ownName(manifest, upstream));
      if (own.length === 0) return undefined;
      const toolIds = new Map(own.map(({ name, manifest }) => [name, manifest.tool_id]));
      const made = { ...pagesOf(own, pageSize), toolIds };
      servers.set(upstream, made);
      return made;
    },
  };
}

function ownName(manifest: ToolManifest, upstream: string): NamedTool[] {
  const { kind, config } = manifest.executor;
  const isOfServer = kind === 'mcp' && config?.['upstream'] === upstream;
  return isOfServer ? [{ name: String(config['tool']), manifest }] : [];
}

/** Sorted by name, so that a cursor (the last name of a page) stays valid while tools come and go. */
function pagesOf(tools: readonly NamedTool[], pageSize: number): ToolPages {
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const texts = textsByEra(sorted);
  const pages = { legacy: new Map<number, string>(), modern: new Map<number, string>() };
  let print: string | undefined;
  return {
    print: () => {
      print ??= sha256([...texts('legacy'), ...texts('modern')].join());
      return print;
    },
    page: (cursor, era) => {
      const start = cursor === undefined ? 0 : startAfter(sorted, cursor);
      const known = pages[era].get(start);
      if (known !== undefined) return known;
      const end = start + pageSize;
      const last = sorted[end - 1];
      const more = last !== undefined && end < sorted.length ? `,"nextCursor":"${cursorOf(last.name)}"` : '';
      const page = `"tools":[${texts(era).slice(start, end).join(',')}]${more}`;
      // Only cursors that were issued are cached; others must not fill the memory.
      if (start % pageSize === 0) pages[era].set(start, page);
      return page;
    },
  };
}

/** Each tool as JSON text, made per era on first use. */
function textsByEra(tools: readonly NamedTool[]): (era: Era) => readonly string[] {
  const made: Partial<Record<Era, readonly string[]>> = {};
  return (era) => {
    made[era] ??= tools.map(({ name, manifest }) => JSON.stringify(toolView(manifest, era, name)));
    return made[era];
  };
}

function cursorOf(name: string): string {
  return Buffer.from(name).toString('base64url');
}

function startAfter(sorted: readonly NamedTool[], cursor: string): number {
  const after = Buffer.from(cursor, 'base64url').toString();
  if (cursorOf(after) !== cursor || cursor === '') {
    throw new ToolLayerError('E3801', 'The cursor is not one of this server. List again without a cursor.');
  }
  const index = sorted.findIndex(({ name }) => name > after);
  return index < 0 ? sorted.length : index;
}
