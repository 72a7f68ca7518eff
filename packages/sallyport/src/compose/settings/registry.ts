import type { Setting } from './setting.ts';

/** Which tools exist and how they are found and listed. */
export const REGISTRY_SETTINGS = [
  {
    key: 'registry.max_versions_per_tool',
    variable: 'SALLYPORT_MAX_VERSIONS_PER_TOOL',
    type: 'integer',
    unit: 'versions',
    minimum: 1,
    default: 5,
    sentence: 'Versions of one tool beside each other; more make the oldest leave that nobody uses.',
  },
  {
    key: 'registry.deprecation_warning_days',
    variable: 'SALLYPORT_DEPRECATION_WARNING_DAYS',
    type: 'integer',
    unit: 'days',
    minimum: 0,
    default: 90,
    sentence: 'Time between the deprecation of a version and its removal, unless it is forced.',
  },
  {
    key: 'registry.in_use_days',
    variable: 'SALLYPORT_IN_USE_DAYS',
    type: 'integer',
    unit: 'days',
    minimum: 0,
    default: 30,
    sentence: 'A version that was called within this time is in use and not made to leave.',
  },
  {
    key: 'mcp.tools',
    variable: 'SALLYPORT_MCP_TOOLS',
    type: 'string',
    oneOf: ['all', 'meta', 'auto'],
    default: 'all',
    sentence:
      'What MCP clients that do not choose are shown. all: every tool. meta: three tools that find, describe and call the others. auto: meta for who sees many.',
  },
  {
    key: 'mcp.auto_tools_max',
    variable: 'SALLYPORT_MCP_AUTO_TOOLS_MAX',
    type: 'integer',
    unit: 'tools',
    minimum: 0,
    default: 100,
    sentence: 'Most tools that auto shows one by one.',
  },
  {
    key: 'search.embedder',
    variable: 'SALLYPORT_SEARCH_EMBEDDER',
    type: 'string',
    oneOf: ['local', 'ollama', 'openai', 'none'],
    default: 'local',
    sentence:
      'What finds tools by meaning. local: a model in this process, without network. openai: any server that speaks as OpenAI does; it reads all descriptions and queries. none: keywords only.',
  },
  {
    key: 'search.embedder_url',
    variable: 'SALLYPORT_SEARCH_EMBEDDER_URL',
    type: 'string',
    default: '',
    sentence: "Address of that server; empty is http://127.0.0.1:11434 for ollama, and OpenAI's own for openai.",
  },
  {
    key: 'search.embedder_model',
    variable: 'SALLYPORT_SEARCH_EMBEDDER_MODEL',
    type: 'string',
    default: '',
    sentence: 'Model of that server; empty is nomic-embed-text for ollama and text-embedding-3-small for openai.',
  },
  {
    key: 'search.embedder_secret',
    variable: 'SALLYPORT_SEARCH_EMBEDDER_SECRET',
    type: 'string',
    default: '',
    sentence: 'Name of the secret that holds the key for that server; empty sends none.',
  },
  {
    key: 'search.threshold',
    variable: 'SALLYPORT_SEARCH_THRESHOLD',
    type: 'number',
    unit: 'similarity, 0 to 1',
    minimum: 0,
    default: 0.7,
    sentence:
      'Least similarity of a tool that no word of the query occurs in; the same number means the same for every model.',
  },
  {
    key: 'search.vector_index',
    variable: 'SALLYPORT_SEARCH_VECTOR_INDEX',
    type: 'string',
    oneOf: ['process', 'pgvector'],
    default: 'process',
    sentence: 'Where vectors are compared: in this process, or in a PostgreSQL that has pgvector.',
  },
] as const satisfies readonly Setting[];
