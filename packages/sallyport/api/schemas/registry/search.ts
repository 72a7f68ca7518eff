import { type Static, Type } from 'typebox';
import { Warning } from '../invocation.ts';
import { ToolSummary } from '../registry.ts';
import { Category, ExecutorKind } from '../tool-manifest.ts';
import { Tier } from '../visibility.ts';

/** REG-05: tools by what they do. */
export const ToolSearchRequest = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 4096 }),
    category: Type.Optional(Category),
    tags: Type.Optional(Type.Array(Type.String(), { description: 'Tools that carry every one of these.' })),
    executor: Type.Optional(ExecutorKind),
    tier: Type.Optional(Tier),
    threshold: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Least similarity of what is found by meaning alone; the setting search.threshold when absent.',
      }),
    ),
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  },
  { additionalProperties: false },
);
export type ToolSearchRequest = Static<typeof ToolSearchRequest>;

/** `keyword`: the embedder could not be asked, which a warning E3005 says too. */
export const SearchMode = Type.Enum(['hybrid', 'keyword']);
export type SearchMode = Static<typeof SearchMode>;

export const ToolSearchResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          tool: ToolSummary,
          score: Type.Number({ description: 'Order of the list; comparable within one answer only.' }),
          similarity: Type.Optional(Type.Number({ description: 'By meaning, recalibrated to 0 to 1.' })),
        },
        { additionalProperties: false },
      ),
    ),
    pagination: Type.Object(
      { total_count: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() },
      { additionalProperties: false },
    ),
    mode: SearchMode,
    progress: Type.Optional(
      Type.Object(
        {
          indexed: Type.Integer({ description: 'Tools that are found by meaning.' }),
          pending: Type.Integer({
            description: 'Tools that are found by keywords only until the embedder has read them.',
          }),
          failed: Type.Integer({ description: 'Tools that the embedder gave no vector for.' }),
        },
        { additionalProperties: false },
      ),
    ),
    warnings: Type.Array(Warning),
  },
  { additionalProperties: false },
);
export type ToolSearchResponse = Static<typeof ToolSearchResponse>;
