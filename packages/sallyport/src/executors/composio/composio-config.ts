import { type Static, Type } from 'typebox';

/** `executor.config` of a tool of kind `composio`. The importer writes it; people may write it too. */
export const ComposioConfig = Type.Object(
  {
    tool: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$', description: "Composio's slug of the tool." }),
    version: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: "Of the tool. Composio's oldest when absent." }),
    ),
    base_url: Type.String({
      pattern: '^https?://',
      maxLength: 2048,
      description: 'Up to the version of the API, as https://backend.composio.dev/api/v3.',
    }),
    secret: Type.String({ minLength: 1, description: "Name of the secret that is the project's API key." }),
    connected_account_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'One user for all callers.' })),
    user_from: Type.Optional(
      Type.Enum(['agent', 'tenant'], { description: 'The user is who calls: the DID of the agent, or the tenant.' }),
    ),
    no_auth: Type.Optional(Type.Boolean({ description: 'The tool needs no account.' })),
  },
  { additionalProperties: false, title: 'Composio tool' },
);
export type ComposioConfig = Static<typeof ComposioConfig>;
