import { type Static, Type } from 'typebox';

/** How one value is written into the request: RFC 6570 styles as OpenAPI 3.1 §4.8.12 names them. */
export const ParameterStyle = Type.Enum([
  'simple',
  'label',
  'matrix',
  'form',
  'spaceDelimited',
  'pipeDelimited',
  'deepObject',
]);
export type ParameterStyle = Static<typeof ParameterStyle>;

/** One argument of the tool that is sent outside the body. */
export const HttpParameter = Type.Object(
  {
    property: Type.String({ minLength: 1, description: 'Name of the argument.' }),
    name: Type.String({ minLength: 1, description: 'Name in the request.' }),
    in: Type.Enum(['path', 'query', 'header', 'cookie']),
    style: ParameterStyle,
    explode: Type.Boolean(),
    allow_reserved: Type.Optional(Type.Boolean({ description: 'Leave :/?@ and the like unescaped in the query.' })),
    json: Type.Optional(Type.Boolean({ description: 'The value is written as JSON text.' })),
  },
  { additionalProperties: false },
);
export type HttpParameter = Static<typeof HttpParameter>;

/** How one field of a form or multipart body is written, where it differs from the default. */
export const HttpField = Type.Object(
  {
    style: Type.Optional(ParameterStyle),
    explode: Type.Optional(Type.Boolean()),
    content_type: Type.Optional(Type.String({ maxLength: 255 })),
    base64: Type.Optional(Type.Boolean({ description: 'The argument is base64; its bytes are sent.' })),
  },
  { additionalProperties: false },
);
export type HttpField = Static<typeof HttpField>;

/** The argument that becomes the body. */
export const HttpBody = Type.Object(
  {
    property: Type.String({ minLength: 1 }),
    content_type: Type.String({ minLength: 1, maxLength: 255 }),
    encoding: Type.Enum(['json', 'form', 'multipart', 'text', 'base64']),
    fields: Type.Optional(Type.Record(Type.String(), HttpField)),
  },
  { additionalProperties: false },
);
export type HttpBody = Static<typeof HttpBody>;

/**
 * One credential. `basic` expects the secret as `user:password`; `oauth2_client_credentials` as `client_id:client_secret`,
 * for which it gets a token (RFC 6749 §4.4); the others as it is sent.
 */
export const HttpAuth = Type.Union([
  Type.Object(
    {
      type: Type.Literal('api_key'),
      in: Type.Enum(['header', 'query', 'cookie']),
      name: Type.String({ minLength: 1, maxLength: 255 }),
      secret: Type.String({ minLength: 1 }),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { type: Type.Enum(['bearer', 'basic']), secret: Type.String({ minLength: 1 }) },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('oauth2_client_credentials'),
      secret: Type.String({ minLength: 1 }),
      token_url: Type.String({ pattern: '^https?://', maxLength: 2048 }),
      scopes: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 64 })),
      audience: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
      client_auth: Type.Optional(
        Type.Enum(['basic', 'body'], {
          description: 'How the client names itself to the token server. Default basic.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
]);
export type HttpAuth = Static<typeof HttpAuth>;

/**
 * `executor.config` of a tool of kind `http`: everything needed to build its request. Importers write it, the HTTP
 * executor reads it; people may write it too.
 */
export const HttpOperation = Type.Object(
  {
    base_url: Type.String({ pattern: '^https?://', maxLength: 2048, description: 'No query and no fragment.' }),
    method: Type.Enum(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'POST', 'PATCH', 'TRACE', 'QUERY']),
    path: Type.String({ pattern: '^(?:/.*)?$', maxLength: 2048, description: '{name} is a path parameter.' }),
    parameters: Type.Optional(Type.Array(HttpParameter, { maxItems: 512 })),
    body: Type.Optional(HttpBody),
    auth: Type.Optional(Type.Array(HttpAuth, { maxItems: 8, description: 'All of them are sent.' })),
    accept: Type.Optional(Type.String({ maxLength: 1024 })),
    not_callable: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        description: 'Why every call is refused: the operation is on record, but this layer cannot send it.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Fixed headers, never credentials.' }),
    ),
  },
  { additionalProperties: false, title: 'HTTP operation' },
);
export type HttpOperation = Static<typeof HttpOperation>;
