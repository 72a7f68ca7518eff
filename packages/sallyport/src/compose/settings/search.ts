import { number, oneOf, text } from '../../domain/settings/rows.ts';

/** Search for tools. */
export const SEARCH_ROWS = [
  oneOf('search.embedder', ['local', 'ollama', 'openai', 'none'], {
    default: 'local',
    sentence:
      'What finds tools by meaning. local: a model in this process, without network. openai: any server that speaks as OpenAI does; it reads all descriptions and queries. none: keywords only.',
  }),
  text('search.embedder_url', {
    default: '',
    sentence: "Address of that server; empty is http://127.0.0.1:11434 for ollama, and OpenAI's own for openai.",
  }),
  text('search.embedder_model', {
    default: '',
    sentence: 'Model of that server; empty is nomic-embed-text for ollama and text-embedding-3-small for openai.',
  }),
  text('search.embedder_secret', {
    default: '',
    sentence: 'Name of the secret that holds the key for that server; empty sends none.',
  }),
  number('search.threshold', {
    unit: 'similarity',
    minimum: 0,
    maximum: 1,
    default: 0.7,
    sentence:
      'Least similarity of a tool that no word of the query occurs in; the same number means the same for every model.',
  }),
  oneOf('search.vector_index', ['process', 'pgvector'], {
    default: 'process',
    sentence: 'Where vectors are compared: in this process, or in a PostgreSQL that has pgvector.',
  }),
];
