import { KiB } from '@sallyport/std/bytes';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../api/schemas/error.ts';
import type { ToolView, ViewSource, ViewTool } from '../../api/schemas/visibility.ts';
import type { ToolVersion } from '../domain/tool/tool-version.ts';
import { resolveView, type TenantTools } from './resolve-view.ts';
import { bySource, type Sourced } from './views/origin.ts';
import { anyOf } from './views/selection.ts';
import type { TenantRules } from './visibility.ts';

/** Most default arguments of one tool, as JSON. */
const DEFAULT_ARGUMENTS_BYTES_MAX = 64 * KiB;
/** Most faults reported; a view with more needs several rounds. */
export const FAULTS_MAX = 100;

/** Context for checking a view. */
export interface ViewChecks extends TenantTools {
  /** The tenant's rules, with its other views. */
  readonly rules: TenantRules | undefined;
  /** Faults of a partial set of a tool's arguments; paths start at the arguments. */
  readonly argumentFaults: (tool: ToolVersion, given: Readonly<Record<string, unknown>>) => readonly Fault[];
}

/** All faults of a view, with their places; empty for a valid one (REG-13). */
export function viewFaults(view: ToolView, checks: ViewChecks): readonly Fault[] {
  const faults = [...agentFaults(view, checks.rules), ...sourceFaults(view, checks)];
  // Conflicts are checked only for a view whose parts are valid: otherwise they would repeat the faults.
  return (faults.length === 0 ? conflictFaults(view, checks) : faults).slice(0, FAULTS_MAX);
}

function agentFaults(view: ToolView, rules: TenantRules | undefined): readonly Fault[] {
  const seen = new Set<string>();
  return view.agents.flatMap((agent, i) => {
    const path = pointerTo('/agents', i);
    if (seen.has(agent)) return [fault(path, 'uniqueItems', `${agent} is named twice.`, 'Name each agent once.')];
    seen.add(agent);
    const other = rules?.viewByAgent.get(agent)?.view.name;
    if (other === undefined || other === view.name) return [];
    const message = `${agent === '*' ? 'Every agent' : agent} is bound to the view ${other}; an agent has one view.`;
    return [fault(path, 'agent', message, `Take ${agent} out of one of the two.`)];
  });
}

function sourceFaults(view: ToolView, checks: ViewChecks): readonly Fault[] {
  const there = bySource(checks.tools);
  const seen = new Set<string>();
  const names = new Set<string>();
  return view.sources.flatMap((source, i) => {
    const path = pointerTo('/sources', i);
    if (seen.has(source.source)) {
      const message = `The source ${source.source} is named twice.`;
      return [fault(`${path}/source`, 'uniqueItems', message, 'Write all of a source in one entry.')];
    }
    seen.add(source.source);
    const tools = there.get(source.source);
    if (tools !== undefined) return toolFaults(source, path, tools, names, checks);
    const known = [...there.keys()].slice(0, 10).join(', ');
    const message = `No tool that is available to the tenant comes from ${JSON.stringify(source.source)}.`;
    return [fault(`${path}/source`, 'source', message, `Sources are ${known === '' ? 'none yet' : known}.`)];
  });
}

function toolFaults(
  source: ViewSource,
  path: string,
  there: readonly Sourced[],
  names: Set<string>,
  checks: ViewChecks,
): readonly Fault[] {
  const byName = new Map(there.map((sourced) => [sourced.origin.tool, sourced.tool]));
  const denied = anyOf(source.deny ?? []);
  const seen = new Set<string>();
  return (source.tools ?? []).flatMap((rule, j) => {
    const at = pointerTo(`${path}/tools`, j);
    const tool = byName.get(rule.tool);
    const quoted = JSON.stringify(rule.tool);
    if (tool === undefined) {
      const message = `${source.source} has no tool ${quoted} that is available to the tenant.`;
      return [fault(`${at}/tool`, 'tool', message, 'Write the name as the source itself does, letter for letter.')];
    }
    if (seen.has(rule.tool)) return [fault(`${at}/tool`, 'uniqueItems', `${quoted} is named twice.`, 'Name it once.')];
    seen.add(rule.tool);
    const both = `${quoted} is in tools and in deny.`;
    return [
      ...(denied(rule.tool) ? [fault(`${at}/tool`, 'deny', both, 'Take it out of one of the two.')] : []),
      ...pinFaults(rule, tool, at),
      ...renameFaults(rule, tool, at, names, checks.isId),
      ...argumentFaults(rule, tool, at, checks),
    ];
  });
}

function pinFaults({ content_hash }: ViewTool, tool: ToolVersion, at: string): readonly Fault[] {
  if (content_hash === undefined || content_hash === tool.contentHash) return [];
  const message = `${tool.manifest.tool_id} has the content hash ${tool.contentHash} now.`;
  return [fault(`${at}/content_hash`, 'const', message, 'Look at the tool again, then pin this hash, or none.')];
}

function renameFaults(
  { name }: ViewTool,
  { manifest }: ToolVersion,
  at: string,
  names: Set<string>,
  isId: (name: string) => boolean,
): readonly Fault[] {
  if (name === undefined) return [];
  const path = `${at}/name`;
  if (names.has(name)) return [fault(path, 'uniqueItems', `Two tools are given the name ${name}.`, 'Rename one.')];
  names.add(name);
  if (name === manifest.tool_id || !isId(name)) return [];
  return [fault(path, 'name', `${name} is the id of another tool.`, 'Take a name that is no tool of the tenant.')];
}

function argumentFaults(
  { default_arguments: given }: ViewTool,
  tool: ToolVersion,
  at: string,
  checks: ViewChecks,
): readonly Fault[] {
  if (given === undefined) return [];
  const path = `${at}/default_arguments`;
  const bytes = Buffer.byteLength(JSON.stringify(given));
  if (bytes > DEFAULT_ARGUMENTS_BYTES_MAX) {
    const message = `The default arguments have ${bytes} bytes, more than ${DEFAULT_ARGUMENTS_BYTES_MAX}.`;
    return [fault(path, 'maxLength', message, 'Give less.')];
  }
  return checks.argumentFaults(tool, given).map((each) => ({ ...each, path: `${path}${each.path}` }));
}

/** `priority` and `prefix` drop a tool that lost its name; with `manual` the operator must decide. */
function conflictFaults(view: ToolView, checks: ViewChecks): readonly Fault[] {
  if (view.conflict !== 'manual') return [];
  const hint = 'Give all but one another name in tools, or deny them.';
  const rank = new Map(view.sources.map(({ source }, i) => [source, i]));
  return resolveView(view, checks).dropped.map(({ source, toolId, reason }) =>
    fault(pointerTo('/sources', rank.get(source) ?? 0), 'conflict', `${toolId ?? source} has no name: ${reason}`, hint),
  );
}

function fault(path: string, keyword: string, message: string, hint: string): Fault {
  return { path, code: 'E3801', keyword, message, hint };
}
