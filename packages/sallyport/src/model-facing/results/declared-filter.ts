import { type Static, Type } from 'typebox';
import type { FilteredCall, OutputFilter } from '../output-filter.ts';
import { compilePattern, lineFilter, type TextTest } from './line-filter.ts';

const text = Type.String({ minLength: 1, maxLength: 1024 });
const patterns = Type.Optional(Type.Array(text, { maxItems: 64 }));
const Matcher = Type.Object(
  { exact: Type.Optional(text), prefix: Type.Optional(text), regex: Type.Optional(text) },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);

/** A `[[filter]]` table of a file of output filters (MOD-06). */
export const DeclaredFilter = Type.Object(
  {
    id: text,
    tool: Type.Optional(Matcher),
    command: Type.Optional(Matcher),
    keep: patterns,
    drop: patterns,
    others: Type.Optional(Type.Enum(['keep', 'drop'])),
  },
  { additionalProperties: false },
);
type DeclaredFilter = Static<typeof DeclaredFilter>;

/**
 * Makes the filter that a table declares.
 * @throws SyntaxError saying what is wrong with it
 */
export function declaredFilter({
  id,
  tool,
  command,
  keep = [],
  drop = [],
  others = 'keep',
}: DeclaredFilter): OutputFilter {
  if (tool === undefined && command === undefined) throw new SyntaxError('it names neither tool nor command');
  if (drop.length === 0 && (keep.length === 0 || others === 'keep'))
    throw new SyntaxError('it leaves nothing out: write drop, or keep together with others = "drop"');
  const ofTool = tool && testOf(tool);
  const ofCommand = command && testOf(command);
  const matches = (call: FilteredCall): boolean =>
    (ofTool === undefined || ofTool(call.toolId)) &&
    (ofCommand === undefined || (call.command !== undefined && ofCommand(call.command)));
  const filter = lineFilter({ keep, drop, others });
  return { id, matches, filter: (given, _call, pause) => filter(given, pause) };
}

function testOf({ exact, prefix, regex }: Static<typeof Matcher>): TextTest {
  if (exact !== undefined) return (given) => given === exact;
  if (prefix !== undefined) return (given) => given.startsWith(prefix);
  return compilePattern(regex ?? '');
}
