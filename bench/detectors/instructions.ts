import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DescribedTool, scanDescription, scanOutput } from '@sallyport/guards';
import { type Figure, figureOf } from '../report/figure.ts';
import { cpuOfEach } from './cpu-of-pass.ts';

const SHOWN = fileURLToPath(new URL('../../../shared/corpora/', import.meta.url));
const RECALL_MIN = 0.83;
const FALSE_MAX = 0.002;
const MICROSECONDS_A_DESCRIPTION = 1_000;

type Row = Readonly<Record<string, unknown>>;

/** How many poisoned descriptions are found, how many honest ones and harmless results are taken for one, and the cost. */
export async function measureInstructions(seconds: number): Promise<Figure[]> {
  const labelled = rows('agent-security/tool_descriptions.jsonl');
  const tools = [...rows('tool-retrieval/bfcl-multiple/tools.jsonl'), ...rows('tool-retrieval/metatool/tools.jsonl')];
  const honest = [...tools, ...rows('langchain/tools.jsonl')].map(described);
  const operations = operationsOf('openapi/specs');
  const benign = rows('injection/benign.jsonl').map(({ text }) => String(text));
  const poisoned = labelled.filter(({ label }) => label === 'poisoned').map(described);
  const real = [...honest, ...operations];
  return [
    figureOf('instructions: poisoned descriptions found', 'of tools', flagged(poisoned), { atLeast: RECALL_MIN }),
    figureOf('instructions: honest tools flagged', 'of tools', flagged(honest), { atMost: FALSE_MAX }),
    figureOf('instructions: honest operations flagged', 'of tools', flagged(operations), { atMost: FALSE_MAX }),
    figureOf('instructions: harmless results tainted', 'of texts', tainted(benign), { atMost: FALSE_MAX }),
    figureOf('instructions: CPU, one description', 'µs', cpu(real.map(descriptionOnly), seconds), {
      atMost: MICROSECONDS_A_DESCRIPTION,
    }),
    figureOf('instructions: CPU, one tool with its schema', 'µs', cpu(honest, seconds)),
    figureOf('instructions: CPU, results', 'µs per KB', costOfOutputs(benign, seconds)),
  ];
}

function rows(name: string): readonly Row[] {
  if (!existsSync(SHOWN + name)) return [];
  const lines = readFileSync(SHOWN + name, 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}

const described = ({ name, description, parameters }: Row): DescribedTool => ({
  name: String(name),
  description: String(description),
  parameters_schema: parameters,
});

const descriptionOnly = ({ name, description }: DescribedTool): DescribedTool => ({ name, description });

/** Every operation of the documents as a tool: summary, description, and what it takes. */
function operationsOf(folder: string): readonly DescribedTool[] {
  if (!existsSync(SHOWN + folder)) return [];
  return readdirSync(SHOWN + folder).flatMap((file) => {
    const document = JSON.parse(readFileSync(`${SHOWN}${folder}/${file}`, 'utf8')) as { paths?: object };
    const items = Object.values(document.paths ?? {}).flatMap((item: unknown) => Object.values(item as object));
    return items.flatMap((operation: Row | null) => {
      if (typeof operation !== 'object' || operation === null || !('responses' in operation)) return [];
      const { operationId, summary = '', description = '', parameters, requestBody } = operation;
      const schema = { parameters, requestBody };
      return [{ name: String(operationId), description: `${summary}\n${description}`, parameters_schema: schema }];
    });
  });
}

function flagged(tools: readonly DescribedTool[]): number | undefined {
  if (tools.length === 0) return undefined;
  return tools.filter((tool) => scanDescription(tool).verdict !== 'clean').length / tools.length;
}

function tainted(texts: readonly string[]): number | undefined {
  return texts.length === 0 ? undefined : texts.filter((text) => scanOutput(text).tainted).length / texts.length;
}

function cpu(tools: readonly DescribedTool[], seconds: number): number | undefined {
  return tools.length === 0 ? undefined : cpuOfEach(tools, seconds, (tool) => void scanDescription(tool));
}

function costOfOutputs(texts: readonly string[], seconds: number): number | undefined {
  const each = texts.length === 0 ? undefined : cpuOfEach(texts, seconds, (text) => void scanOutput(text));
  if (each === undefined) return undefined;
  const kilobytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1024;
  return (each * texts.length) / kilobytes;
}
